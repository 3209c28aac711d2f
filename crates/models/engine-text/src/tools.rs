//! Tool calls in the format of Hermes and Qwen models: JSON between tags.

mod bare_call;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::bare_call::BareCallMatch;

pub(crate) const BEGIN: &str = "<tool_call>";
pub(crate) const END: &str = "</tool_call>";

/// Separates an answer's text from the calls in it.
#[derive(Debug, Default)]
pub(crate) struct ToolCallSplitter {
    state: SplitterState,
    /// Text that is not yet classified.
    held: String,
    /// Whitespace that is dropped before a call or at the end, and kept before more text.
    space: String,
    has_text: bool,
    /// Tools that may be called without tags.
    bare_names: Vec<String>,
    /// Set until the fence around the last untagged call ends.
    is_fenced: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum SplitterState {
    #[default]
    Text,
    Call,
    /// A call without tags may start here.
    Bare,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AnswerPiece {
    Text(String),
    Call { name: String, arguments: String },
}

impl ToolCallSplitter {
    /// For a model that may also call these tools without tags at the start of its answer.
    pub(crate) fn with_bare(names: Vec<String>) -> ToolCallSplitter {
        let state = if names.is_empty() { SplitterState::Text } else { SplitterState::Bare };
        ToolCallSplitter { state, bare_names: names, ..ToolCallSplitter::default() }
    }

    pub(crate) fn push(&mut self, text: &str) -> Vec<AnswerPiece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        if self.state == SplitterState::Bare && !self.bare_calls(&mut pieces) {
            return pieces;
        }
        loop {
            let mark = if self.state == SplitterState::Text { BEGIN } else { END };
            let Some((before, after)) = self.held.split_once(mark) else { break };
            let (before, after) = (before.to_owned(), after.to_owned());
            self.held = after;
            pieces.extend(match self.state {
                SplitterState::Text | SplitterState::Bare => self.push_text(&before),
                SplitterState::Call => {
                    let words = || AnswerPiece::Text(format!("{BEGIN}{before}{END}"));
                    Some(parse_call(&before).unwrap_or_else(words))
                }
            });
            self.state = if self.state == SplitterState::Text {
                SplitterState::Call
            } else {
                SplitterState::Text
            };
        }
        if self.state == SplitterState::Text {
            let doubtful = doubtful_bytes(&self.held);
            let rest = self.held.split_off(self.held.len() - doubtful);
            let sure = std::mem::replace(&mut self.held, rest);
            pieces.extend(self.push_text(&sure));
        }
        pieces
    }

    /// Extracts untagged calls from the start; true if no more can follow.
    fn bare_calls(&mut self, pieces: &mut Vec<AnswerPiece>) -> bool {
        loop {
            if self.is_fenced
                && let Some(rest) = bare_call::after_fence(&self.held)
            {
                self.held = rest.to_owned();
                self.is_fenced = false;
            }
            match bare_call::match_bare_call(&self.held, &self.bare_names) {
                BareCallMatch::Wait => return false,
                BareCallMatch::Words => {
                    self.state = SplitterState::Text;
                    return true;
                }
                BareCallMatch::Call { name, arguments, bytes, is_fenced } => {
                    pieces.push(AnswerPiece::Call { name, arguments });
                    self.held.drain(..bytes);
                    self.is_fenced |= is_fenced;
                }
            }
        }
    }

    /// True within a call.
    pub(crate) fn is_in_call(&self) -> bool {
        self.state == SplitterState::Call
    }

    /// The text of the current call so far.
    pub(crate) fn call_text(&self) -> &str {
        &self.held
    }

    /// Returns the held-back text. A model may end its turn without closing its last call.
    pub(crate) fn finish(&mut self) -> Option<AnswerPiece> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            SplitterState::Text | SplitterState::Bare => self.push_text(&held),
            SplitterState::Call => Some(
                parse_call(&held).unwrap_or_else(|| AnswerPiece::Text(format!("{BEGIN}{held}"))),
            ),
        }
    }

    fn push_text(&mut self, text: &str) -> Option<AnswerPiece> {
        let solid = text.trim_end().len();
        if solid == 0 {
            self.space.push_str(text);
            return None;
        }
        let mut piece = std::mem::take(&mut self.space);
        piece.push_str(&text[..solid]);
        text[solid..].clone_into(&mut self.space);
        let piece = if self.has_text { piece } else { piece.trim_start().to_owned() };
        self.has_text = true;
        Some(AnswerPiece::Text(piece))
    }
}

#[derive(Deserialize)]
struct ToolCallJson<'a> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: Option<&'a RawValue>,
}

impl ToolCallJson<'_> {
    fn arguments(&self) -> String {
        self.arguments.map_or("{}", RawValue::get).to_owned()
    }
}

/// Parses a call. Invalid calls stay text, which the caller sees unchanged.
fn parse_call(body: &str) -> Option<AnswerPiece> {
    let call: ToolCallJson<'_> = serde_json::from_str(body.trim()).ok()?;
    let arguments = call.arguments();
    Some(AnswerPiece::Call { name: call.name, arguments })
}

/// Length of the longest suffix that is a prefix of the opening tag.
fn doubtful_bytes(text: &str) -> usize {
    let lengths = (1..BEGIN.len()).rev();
    lengths.into_iter().find(|length| text.ends_with(&BEGIN[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> AnswerPiece {
        AnswerPiece::Text(text.to_owned())
    }

    fn add(arguments: &str) -> AnswerPiece {
        AnswerPiece::Call { name: "add".to_owned(), arguments: arguments.to_owned() }
    }

    #[track_caller]
    fn check(tokens: &[&str], expected: &[AnswerPiece]) {
        let mut splitter = ToolCallSplitter::default();
        let mut pieces: Vec<AnswerPiece> = tokens.iter().flat_map(|it| splitter.push(it)).collect();
        pieces.extend(splitter.finish());
        assert_eq!(pieces, expected);
    }

    #[test]
    fn text_without_calls_passes() {
        check(&["a ", "b <", "i>", " c\n"], &[text("a"), text(" b"), text(" <i>"), text(" c")]);
    }

    #[test]
    fn a_call_is_told_from_the_text_around_it() {
        check(
            &[
                "I add.\n\n<tool",
                "_call>\n{\"name\": \"add\", ",
                "\"arguments\": {\"a\": 1}}\n</tool_call>",
            ],
            &[text("I add."), add("{\"a\": 1}")],
        );
    }

    #[test]
    fn several_calls_follow_each_other() {
        let one = "<tool_call>{\"name\":\"add\",\"arguments\":{}}</tool_call>";
        check(&[one, "\n", one], &[add("{}"), add("{}")]);
    }

    #[test]
    fn a_call_may_end_with_the_turn() {
        check(&["<tool_call>\n{\"name\": \"add\"}\n"], &[add("{}")]);
    }

    #[test]
    fn what_is_no_call_stays_text() {
        check(&["<tool_call>\nadd 1\n</tool_call>"], &[text("<tool_call>\nadd 1\n</tool_call>")]);
    }

    #[test]
    fn a_call_that_is_cut_short_is_text_as_far_as_it_came() {
        check(&["<tool_call>\n{\"name\": \"ad"], &[text("<tool_call>\n{\"name\": \"ad")]);
    }

    fn words(piece: &AnswerPiece) -> Option<&str> {
        match piece {
            AnswerPiece::Text(text) => Some(text),
            AnswerPiece::Call { .. } => None,
        }
    }

    #[track_caller]
    fn check_bare(answer: &str, expected: &[AnswerPiece]) {
        let mut splitter = ToolCallSplitter::with_bare(vec!["add".to_owned()]);
        let mut pieces = Vec::new();
        for letter in answer.chars() {
            pieces.extend(splitter.push(&letter.to_string()));
        }
        pieces.extend(splitter.finish());
        let said: String = pieces.iter().filter_map(words).collect();
        pieces.retain(|piece| words(piece).is_none());
        if !said.is_empty() {
            pieces.push(text(&said));
        }
        assert_eq!(pieces, expected, "{answer}");
    }

    #[test]
    fn calls_without_tags_are_calls_at_the_beginning_only() {
        let one = "{\"name\": \"add\", \"arguments\": {}}";
        check_bare(one, &[add("{}")]);
        check_bare(&format!("{one}\n{one}\n"), &[add("{}"), add("{}")]);
        check_bare(&format!("```json\n{one}\n```"), &[add("{}")]);
        check_bare(&format!("```json\n{one}\n```\nThere."), &[add("{}"), text("There.")]);
        check_bare(&format!("<tool_call>{one}</tool_call>"), &[add("{}")]);
        check_bare(&format!("It is {one}"), &[text(&format!("It is {one}"))]);
        check_bare("{\"name\": \"ad", &[text("{\"name\": \"ad")]);
        check_bare("Hello.", &[text("Hello.")]);
    }

    #[test]
    fn the_beginning_of_a_mark_is_held_back_until_it_is_sure() {
        let mut splitter = ToolCallSplitter::default();
        assert_eq!(splitter.push("a<tool"), [text("a")]);
        assert_eq!(splitter.push("s>"), [text("<tools>")]);
        assert!(!splitter.is_in_call());
        splitter.push("<tool_call>");
        assert!(splitter.is_in_call());
    }
}
