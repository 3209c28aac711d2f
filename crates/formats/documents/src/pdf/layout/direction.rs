//! Lines of Hebrew and Arabic, written from right to left.

/// Converts a line from visual to reading order: letters drawn from left to right are reversed.
/// Numbers and words of other scripts keep their order.
pub(super) fn to_reading_order(line: String) -> String {
    let leftward = line.chars().filter(|it| is_leftward(*it)).count();
    if leftward == 0 {
        return line;
    }
    let rightward = line.chars().filter(|it| it.is_alphabetic() && !is_leftward(*it)).count();
    let is_leftward_line = rightward <= leftward;
    let mut pieces = split_by_direction(&line);
    for (side, piece) in &mut pieces {
        if side.unwrap_or(is_leftward_line) {
            *piece = piece.chars().rev().map(mirror_bracket).collect();
        }
    }
    if is_leftward_line {
        pieces.reverse();
    }
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

/// Splits a line into pieces of one direction; true means right to left. Neutral characters between
/// two pieces of one direction join them; others stand alone.
fn split_by_direction(line: &str) -> Vec<(Option<bool>, String)> {
    let mut pieces: Vec<(Option<bool>, String)> = Vec::new();
    for character in line.chars() {
        let side = find_direction(character);
        match pieces.last_mut() {
            Some((last, piece)) if *last == side => piece.push(character),
            _ => pieces.push((side, character.to_string())),
        }
    }
    let mut joined: Vec<(Option<bool>, String)> = Vec::new();
    for (side, piece) in pieces {
        let count = joined.len();
        let closes = side.is_some()
            && 2 <= count
            && joined[count - 1].0.is_none()
            && joined[count - 2].0 == side;
        if closes {
            let between = joined.pop().map(|(_, between)| between).unwrap_or_default();
            if let Some((_, before)) = joined.last_mut() {
                before.push_str(&between);
                before.push_str(&piece);
            }
        } else {
            joined.push((side, piece));
        }
    }
    joined
}

/// The direction of a character: right to left, left to right, or neutral.
fn find_direction(character: char) -> Option<bool> {
    match character {
        _ if is_leftward(character) => Some(true),
        _ if character.is_alphanumeric() => Some(false),
        _ => None,
    }
}

fn is_leftward(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{65f}' | '\u{66e}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}')
        || matches!(character, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn mirror_bracket(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(drawn: &str, expected: &str) {
        assert_eq!(to_reading_order(drawn.to_owned()), expected);
    }

    #[test]
    fn lines_without_hebrew_or_arabic_stay() {
        check("Hello (1, 2)!", "Hello (1, 2)!");
    }

    #[test]
    fn letters_are_read_from_the_right_and_numbers_from_the_left() {
        check("םלוע םולש", "שלום עולם");
        check("25 :ליג", "גיל: 25");
        check("OpenAI תרבח לש", "של חברת OpenAI");
    }

    #[test]
    fn words_in_a_line_of_another_script_stay_in_their_place() {
        check("The word םולש means peace", "The word שלום means peace");
    }
}
