//! The text for a custom tool, out of the arguments of the function that stands for the tool.

use serde_json::Value;

use super::tool_table::CUSTOM_INPUT;

/// The start of the arguments in the form that was asked for, without whitespace.
const OPENING: &[u8] = b"{\"input\":\"";
/// Positions in [`OPENING`] before which whitespace may stand.
const GAPS: [usize; 4] = [0, 1, 8, 9];

/// Reads the text while the arguments arrive.
#[derive(Debug, Default)]
pub(super) struct CustomInputReader {
    state: ReadState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadState {
    /// This many bytes of the opening were read.
    Opening(usize),
    Text,
    Escape,
    /// In `\uXXXX`: the digits so far, and the first half of a pair.
    Unicode {
        digits: u8,
        code: u32,
        high: Option<u32>,
    },
    /// After the first half of a pair, which `\u` must follow; true after the backslash.
    Pair {
        high: u32,
        is_escaped: bool,
    },
    /// The text has ended, or the arguments have another form.
    Closed,
}

impl Default for ReadState {
    fn default() -> ReadState {
        ReadState::Opening(0)
    }
}

impl CustomInputReader {
    /// The new text in the next piece of the arguments.
    pub(super) fn push(&mut self, arguments: &str) -> String {
        let mut text = String::new();
        for letter in arguments.chars() {
            self.state = self.state.read(letter, &mut text);
        }
        text
    }
}

impl ReadState {
    fn read(self, letter: char, text: &mut String) -> ReadState {
        match self {
            ReadState::Opening(read) => {
                if GAPS.contains(&read) && letter.is_ascii_whitespace() {
                    return self;
                }
                let is_next = OPENING.get(read).is_some_and(|byte| char::from(*byte) == letter);
                match read + 1 {
                    _ if !is_next => ReadState::Closed,
                    all if all == OPENING.len() => ReadState::Text,
                    more => ReadState::Opening(more),
                }
            }
            ReadState::Text => match letter {
                '"' => ReadState::Closed,
                '\\' => ReadState::Escape,
                _ => {
                    text.push(letter);
                    ReadState::Text
                }
            },
            ReadState::Escape => read_escape(letter, text),
            ReadState::Unicode { digits, code, high } => {
                let Some(digit) = letter.to_digit(16) else { return ReadState::Closed };
                let code = code * 16 + digit;
                if digits < 3 {
                    return ReadState::Unicode { digits: digits + 1, code, high };
                }
                finish_unicode(code, high, text)
            }
            ReadState::Pair { high, is_escaped: false } if letter == '\\' => {
                ReadState::Pair { high, is_escaped: true }
            }
            ReadState::Pair { high, is_escaped: true } if letter == 'u' => {
                ReadState::Unicode { digits: 0, code: 0, high: Some(high) }
            }
            ReadState::Pair { .. } | ReadState::Closed => ReadState::Closed,
        }
    }
}

fn read_escape(letter: char, text: &mut String) -> ReadState {
    let meant = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '"' | '\\' | '/' => letter,
        'u' => return ReadState::Unicode { digits: 0, code: 0, high: None },
        _ => return ReadState::Closed,
    };
    text.push(meant);
    ReadState::Text
}

fn finish_unicode(code: u32, high: Option<u32>, text: &mut String) -> ReadState {
    let whole = match (code, high) {
        (0xd800..0xdc00, None) => return ReadState::Pair { high: code, is_escaped: false },
        (0xdc00..0xe000, Some(high)) => 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00),
        (code, _) => code,
    };
    match char::from_u32(whole) {
        Some(letter) => {
            text.push(letter);
            ReadState::Text
        }
        None => ReadState::Closed,
    }
}

/// The text in complete arguments. A model that ignores the form asked for is taken at its word: the
/// only text of an object, or else the arguments as they are.
pub(super) fn read_custom_input(arguments: &str) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(arguments) else {
        let mut reader = CustomInputReader::default();
        let partial = reader.push(arguments);
        let is_other = partial.is_empty() && reader.state == ReadState::Closed;
        return if is_other { arguments.to_owned() } else { partial };
    };
    if let Some(Value::String(text)) = members.remove(CUSTOM_INPUT) {
        return text;
    }
    match members.into_iter().next() {
        Some((_, Value::String(text))) => text,
        _ => arguments.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the arguments, given letter by letter and as a whole.
    fn read(arguments: &str) -> (String, String) {
        let mut reader = CustomInputReader::default();
        let pieces = arguments.chars().map(|it| reader.push(&it.to_string())).collect();
        (pieces, read_custom_input(arguments))
    }

    #[test]
    fn the_text_is_read_in_pieces_as_it_is_read_whole() {
        let texts = ["", "*** Begin Patch\n+a \"b\" \\ c\t\u{1}\n", "ü 😀 /", "{\"input\":\"x\"}"];
        for text in texts {
            let arguments = serde_json::json!({ "input": text }).to_string();
            assert_eq!(read(&arguments), (text.to_owned(), text.to_owned()));
        }
        let escaped = r#" { "input" : "\ud83d\ude00\u00fc\/" } "#;
        assert_eq!(read(escaped), ("😀ü/".to_owned(), "😀ü/".to_owned()));
    }

    #[test]
    fn arguments_of_another_form_are_taken_at_their_word() {
        let whole = |arguments| read(arguments).1;
        assert_eq!(whole(r#"{"patch": "a"}"#), "a");
        assert_eq!(whole("*** Begin Patch"), "*** Begin Patch");
        assert_eq!(whole(r#"{"input": 7}"#), r#"{"input": 7}"#);
        assert_eq!(whole(r#"{"input": "cut of"#), "cut of");
        assert_eq!(read(r#"{"input": "\ud83d x"#).0, "");
    }
}
