//! Accents drawn over letters, as TeX does for fonts without accented letters.

/// Each accent with its letters and the accented letters.
const LETTERS: [(char, &str, &str); 8] = [
    ('´', "aeiouyAEIOUYcnszCNSZ", "áéíóúýÁÉÍÓÚÝćńśźĆŃŚŹ"),
    ('`', "aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
    ('¨', "aeiouyAEIOUY", "äëïöüÿÄËÏÖÜŸ"),
    ('ˆ', "aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
    ('˜', "anoANO", "ãñõÃÑÕ"),
    ('ˇ', "cszrneCSZRNE", "čšžřněČŠŽŘŇĚ"),
    ('˚', "auAU", "åůÅŮ"),
    ('¸', "csCS", "çşÇŞ"),
];

/// Replaces the last character by an accented letter, if it and `over` are a letter and its accent.
pub(super) fn join_accent(text: &mut String, over: &str) -> bool {
    let mut characters = over.chars();
    let (Some(last), Some(next), None) =
        (text.chars().next_back(), characters.next(), characters.next())
    else {
        return false;
    };
    let Some(joined) =
        find_accented_letter(last, next).or_else(|| find_accented_letter(next, last))
    else {
        return false;
    };
    text.pop();
    text.push(joined);
    true
}

pub(super) fn is_accent(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    characters.next().is_none() && LETTERS.iter().any(|(accent, _, _)| Some(*accent) == first)
}

fn find_accented_letter(accent: char, letter: char) -> Option<char> {
    let letter = if letter == 'ı' { 'i' } else { letter };
    let (_, plain, accented) = LETTERS.iter().find(|(it, _, _)| *it == accent)?;
    let place = plain.chars().position(|it| it == letter)?;
    accented.chars().nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_its_accented_form() {
        for (accent, plain, accented) in LETTERS {
            assert_eq!(plain.chars().count(), accented.chars().count(), "{accent}");
        }
    }
}
