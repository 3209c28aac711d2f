//! Repeats prompts before their continuations.

use wire::completions::{CompletionRequest, Prompt};

/// The text before each choice; empty if the caller did not ask for `echo`.
#[derive(Debug, Clone, Default)]
pub(super) struct PromptEcho {
    texts: Vec<String>,
    choices_each: usize,
}

impl PromptEcho {
    pub(super) fn from_request(body: &CompletionRequest) -> PromptEcho {
        if body.echo != Some(true) {
            return PromptEcho::default();
        }
        let texts = match &body.prompt {
            Prompt::Text(text) => vec![text.clone()],
            Prompt::Texts(texts) => texts.clone(),
            Prompt::Tokens(_) | Prompt::TokenLists(_) => Vec::new(),
        };
        let choices_each = usize::try_from(body.n.unwrap_or(1)).unwrap_or(usize::MAX);
        PromptEcho { texts, choices_each }
    }

    /// The prompt of a choice: those of the first prompt come first, then those of the second.
    pub(super) fn choice_prompt(&self, choice: u32) -> &str {
        let choice = usize::try_from(choice).unwrap_or(usize::MAX);
        let prompt = choice.checked_div(self.choices_each).unwrap_or(usize::MAX);
        self.texts.get(prompt).map_or("", String::as_str)
    }
}
