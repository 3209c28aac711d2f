//! Removes prompts that the service added from error messages of engines.
//!
//! An engine may repeat the request in its error. The system messages of a request hold the
//! operator's prompt and the definitions of characters, which callers must not see.

use engine::{ChatRequest, Content, EngineError, Message, PartKind};

/// Shorter common runs of characters are ignored as coincidence.
const RUN_CHARS: usize = 20;
const CONCEALED: &str = "The model's provider rejected the request.";

/// Replaces a message that repeats a system message of the request.
pub(super) fn conceal_prompt(error: EngineError, request: &ChatRequest) -> EngineError {
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
    let said = plain(message);
    let systems = request.messages.iter().filter_map(|message| match message {
        Message::System { content, .. } => Some(content),
        _ => None,
    });
    systems.flat_map(texts).any(|text| has_common_run(&said, &plain(text)))
}

fn texts(content: &Content) -> Vec<&str> {
    match content {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match &part.kind {
                PartKind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
    }
}

/// Letters and digits in lower case: quoting and escaping change only other characters.
fn plain(text: &str) -> Vec<char> {
    let unescaped = text.replace("\\n", " ").replace("\\t", " ");
    let kept = unescaped.chars().filter(|it| it.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
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
        assert_eq!(has_common_run(&plain(said), &plain(prompt)), expected, "{said}");
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
    }
}
