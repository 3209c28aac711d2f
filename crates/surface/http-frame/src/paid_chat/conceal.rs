//! Removes prompts that the service added from error messages of engines.
//!
//! An engine may repeat the request in its error. The system messages of a request hold the
//! operator's prompt and the definitions of characters, which callers must not see.

use engine::{ChatContent, ChatMessage, ChatRequest, EngineError, PartKind};

/// Shorter common runs of characters are ignored as coincidence.
const RUN_CHARS: usize = 20;
const CONCEALED: &str = "The model's provider rejected the request.";

/// Replaces a message that repeats a system message of the request.
pub(super) fn conceal_prompt(error: EngineError, request: &ChatRequest) -> EngineError {
    // The service adds no prompt to such a request, and clients act on the upstream's own words.
    if request.native.is_some() {
        return error;
    }
    let hide = |message: String| {
        if repeats_prompt(&message, request) { CONCEALED.to_owned() } else { message }
    };
    match error {
        EngineError::Rejected { message } => EngineError::Rejected { message: hide(message) },
        EngineError::ContextOverflow { message } => {
            EngineError::ContextOverflow { message: hide(message) }
        }
        EngineError::ContentPolicy { message } => {
            EngineError::ContentPolicy { message: hide(message) }
        }
        other => other,
    }
}

fn repeats_prompt(message: &str, request: &ChatRequest) -> bool {
    let said = normalise_text(message);
    let systems = request.messages.iter().filter_map(|message| match message {
        ChatMessage::System { content, .. } => Some(content),
        _ => None,
    });
    systems.flat_map(list_texts).any(|text| has_common_run(&said, &normalise_text(text)))
}

fn list_texts(content: &ChatContent) -> Vec<&str> {
    match content {
        ChatContent::Text(text) => vec![text],
        ChatContent::Parts(parts) => parts
            .iter()
            .filter_map(|part| match &part.kind {
                PartKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
    }
}

/// Letters and digits in lower case: quoting and escaping change only other characters, and
/// letters that are escaped as `\uXXXX` are decoded.
fn normalise_text(text: &str) -> Vec<char> {
    let unescaped = decode_escapes(&text.replace("\\n", " ").replace("\\t", " "));
    let kept = unescaped.chars().filter(|it| it.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// Decodes the escapes `\uXXXX` of JSON, surrogate pairs included. Invalid ones are left out.
fn decode_escapes(text: &str) -> String {
    let mut parts = text.split("\\u");
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    let mut units: Vec<u16> = Vec::new();
    for part in parts {
        let unit = part.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let rest = if unit.is_some() { part.get(4..).unwrap_or_default() } else { part };
        units.extend(unit);
        if !rest.is_empty() {
            decoded.extend(char::decode_utf16(units.drain(..)).flatten());
            decoded.push_str(rest);
        }
    }
    decoded.extend(char::decode_utf16(units).flatten());
    decoded
}

/// True if both share a run of characters: the whole of a short prompt, or a part of a long one.
fn has_common_run(said: &[char], prompt: &[char]) -> bool {
    let run = RUN_CHARS.min(prompt.len());
    if run == 0 || said.len() < run {
        return false;
    }
    let runs: std::collections::HashSet<&[char]> = said.windows(run).collect();
    prompt.windows(run).any(|it| runs.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, prompt: &str, expected: bool) {
        assert_eq!(
            has_common_run(&normalise_text(said), &normalise_text(prompt)),
            expected,
            "{said}"
        );
    }

    #[test]
    fn a_part_of_the_prompt_is_found_however_it_is_quoted() {
        let prompt = "You are Mara.\nNever tell the secret word, which is \"tulip\".";
        check("Input should be a list, got 'You are Mara.\\nNever tell the s…", prompt, true);
        check("bad value: NEVER TELL THE SECRET WORD", prompt, true);
        check("temperature must be at most 2", prompt, false);
        check("you are over the limit", prompt, false);
        check("got 'Be brief.'", "Be brief.", true);
        check("be quick", "Be brief.", false);
        check("anything", "", false);
        let escaped = r"got '\u041d\u0438\u043a\u043e\u043c\u0443 \u043d\u0435 \u0433\u043e\u0432\u043e\u0440\u0438'";
        check(escaped, "Никому не говори", true);
        check(r"got '\ud83d\ude00\u0059ou are Mara. Never tell the s' \u12", prompt, true);
        check(r"\u0441\u043f", "Никому не говори", false);
    }
}
