//! Tool calls without tags: small code models write a call's JSON alone, or in a fence.

use super::ToolCallJson;

/// Classification of the start of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BareCallMatch {
    /// May still become a call.
    Wait,
    /// A call of `bytes` bytes.
    Call { name: String, arguments: String, bytes: usize, is_fenced: bool },
    /// Ordinary text.
    Words,
}

const FENCE: &str = "```";
const FENCED: [&str; 2] = ["```json\n", "```\n"];
const NAME: &str = "\"name\"";

/// Accepts only a call of one of these tools with an object as arguments.
pub(super) fn match_bare_call(answer: &str, names: &[String]) -> BareCallMatch {
    let solid = answer.trim_start();
    if FENCED.iter().any(|fence| fence.starts_with(solid)) {
        return BareCallMatch::Wait;
    }
    let fence = FENCED.iter().find_map(|fence| solid.strip_prefix(fence));
    let body = fence.unwrap_or(solid).trim_start();
    if !may_begin(body) {
        return BareCallMatch::Words;
    }
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<ToolCallJson<'_>>();
    match values.next() {
        Some(Ok(call)) => {
            let arguments = call.arguments();
            let is_call = names.contains(&call.name) && arguments.starts_with('{');
            if !is_call {
                return BareCallMatch::Words;
            }
            let bytes = answer.len() - body.len() + values.byte_offset();
            BareCallMatch::Call { name: call.name, arguments, bytes, is_fenced: fence.is_some() }
        }
        Some(Err(error)) if error.is_eof() => BareCallMatch::Wait,
        None => BareCallMatch::Wait,
        Some(Err(_)) => BareCallMatch::Words,
    }
}

/// The text after the closing fence of a call.
pub(super) fn after_fence(answer: &str) -> Option<&str> {
    answer.trim_start().strip_prefix(FENCE)
}

/// True if the text may be an object whose first key is `name`.
fn may_begin(body: &str) -> bool {
    let Some(rest) = body.strip_prefix('{') else { return body.is_empty() };
    let key = rest.trim_start();
    NAME.starts_with(key) || key.starts_with(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &BareCallMatch) {
        assert_eq!(match_bare_call(answer, &["add".to_owned()]), *expected, "{answer}");
    }

    fn call(bytes: usize, is_fenced: bool) -> BareCallMatch {
        let (name, arguments) = ("add".to_owned(), "{\"a\": 1}".to_owned());
        BareCallMatch::Call { name, arguments, bytes, is_fenced }
    }

    #[test]
    fn a_call_is_seen_as_soon_as_it_is_whole() {
        let answer = "\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}";
        for length in 0..answer.len() {
            check(&answer[..length], &BareCallMatch::Wait);
        }
        check(answer, &call(answer.len(), false));
        check(&format!("{answer}\nmore"), &call(answer.len(), false));
    }

    #[test]
    fn a_fence_around_it_is_passed_over() {
        for begin in FENCED {
            let answer =
                format!("{begin}{{\n  \"name\": \"add\",\n  \"arguments\": {{\"a\": 1}}\n}}");
            for length in 0..answer.len() {
                check(&answer[..length], &BareCallMatch::Wait);
            }
            check(&answer, &call(answer.len(), true));
        }
    }

    #[test]
    fn other_answers_are_words_at_once() {
        for answer in ["I", "<tool_call>", "[", "{\"a", "{ }", "```python", "`code`", "``x"] {
            check(answer, &BareCallMatch::Words);
        }
    }

    #[test]
    fn json_that_calls_no_tool_is_words() {
        check("{\"name\": \"mul\", \"arguments\": {}}", &BareCallMatch::Words);
        check("{\"name\": \"add\", \"arguments\": 5}", &BareCallMatch::Words);
        check("{\"name\": \"add\" oops", &BareCallMatch::Words);
    }
}
