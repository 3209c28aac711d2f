//! Splits the phonemes of a long sentence at natural pauses, to fit a model's limit.

/// Pieces of at most `phonemes_max` phonemes: split after punctuation if possible, else between
/// words, and within a word only if it is too long itself.
pub fn split_phonemes(phonemes: &str, phonemes_max: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = phonemes.trim();
    while let Some(too_far) = rest.char_indices().nth(phonemes_max).map(|(start, _)| start) {
        let fits = &rest[..too_far];
        let clause = fits.rfind(is_clause_end).map(|it| it + char_width(fits, it));
        // A split in the first half would leave a piece too short to sound natural.
        let clause = clause.filter(|it| fits.len() / 2 <= *it);
        let end = clause.or_else(|| fits.rfind(' ')).filter(|it| 0 < *it).unwrap_or(too_far);
        let (piece, more) = rest.split_at(end.max(1));
        pieces.push(piece.trim());
        rest = more.trim_start();
    }
    pieces.push(rest);
    pieces.retain(|it| !it.is_empty());
    pieces
}

/// The first clause and the rest, if a clause ends after at least `phonemes_min` phonemes. Lets
/// audio start before the whole sentence is synthesized.
pub fn first_clause(phonemes: &str, phonemes_min: usize) -> Option<(&str, &str)> {
    let mut ends = phonemes.char_indices().skip(phonemes_min).filter(|(_, it)| is_clause_end(*it));
    let (at, mark) = ends.next()?;
    let (clause, rest) = phonemes.split_at(at + mark.len_utf8());
    Some((clause, rest.trim_start())).filter(|(_, rest)| !rest.is_empty())
}

fn is_clause_end(phoneme: char) -> bool {
    ",;:—".contains(phoneme)
}

fn char_width(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_line_stays_whole() {
        assert_eq!(split_phonemes("həlˈO ðˈɛɹ.", 510), ["həlˈO ðˈɛɹ."]);
        assert_eq!(split_phonemes("  ", 510), [""; 0]);
    }

    #[test]
    fn a_long_line_is_cut_after_its_last_comma_that_fits() {
        assert_eq!(split_phonemes("ɐbcd, ɛfɡ hI", 10), ["ɐbcd,", "ɛfɡ hI"]);
    }

    #[test]
    fn a_line_without_commas_is_cut_between_words_and_a_long_word_anywhere() {
        assert_eq!(split_phonemes("ab cd ef", 6), ["ab cd", "ef"]);
        assert_eq!(split_phonemes("æbcdefɡ", 3), ["æbc", "def", "ɡ"]);
    }

    #[test]
    fn the_first_clause_is_not_too_short_and_something_follows_it() {
        assert_eq!(first_clause("ab, cd, ef", 4), Some(("ab, cd,", "ef")));
        assert_eq!(first_clause("ab, cd ef,", 4), None);
        assert_eq!(first_clause("ab cd", 1), None);
    }

    proptest! {
        #[test]
        fn every_piece_fits_and_nothing_is_lost(line in "[ abæɡˈ,.—]{0,120}", max in 1usize..20) {
            let cut = split_phonemes(&line, max);
            prop_assert!(cut.iter().all(|it| it.chars().count() <= max));
            let kept: String = cut.concat().split_whitespace().collect();
            let expected: String = line.split_whitespace().collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
