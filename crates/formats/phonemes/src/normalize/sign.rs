//! Replaces signs by words or spaces.

/// Signs that stand for a word are replaced by it; markup becomes a space.
pub(super) fn read_signs(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for character in text.chars() {
        match find_sign_word(character) {
            Some("") => words.push(' '),
            Some(word) => {
                words.push(' ');
                words.push_str(word);
                words.push(' ');
            }
            None => words.push(character),
        }
    }
    words
}

fn find_sign_word(sign: char) -> Option<&'static str> {
    let word = match sign {
        '=' => "equals",
        '<' => "less than",
        '>' => "greater than",
        '+' => "plus",
        '~' => "about",
        '°' => "degrees",
        '¢' => "cents",
        '%' => "percent",
        '§' => "section",
        '¶' => "paragraph",
        '±' => "plus or minus",
        '×' => "times",
        '÷' => "divided by",
        '©' => "copyright",
        '→' => "to",
        '½' => "one half",
        '¼' => "one quarter",
        '¾' => "three quarters",
        '²' => "squared",
        '³' => "cubed",
        'µ' => "micro",
        '^' => "to the power of",
        '#' => "hashtag",
        '$' => "dollar",
        '£' => "pound",
        '€' => "euro",
        '|' => ",",
        '™' | '®' | '•' | '←' | '*' | '_' | '\\' | '`' => "",
        _ => return None,
    };
    Some(word)
}
