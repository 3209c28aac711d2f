//! Prompts that are repeated before their continuations.

use wire::completions::{CompletionRequest, Prompt};

/// What stands before each choice; nothing unless the caller asked for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Echo {
    texts: Vec<String>,
    choices_each: usize,
}

impl Echo {
    pub(super) fn of(body: &CompletionRequest) -> Echo {
        if body.echo != Some(true) {
            return Echo::default();
        }
        let texts = match &body.prompt {
            Prompt::Text(text) => vec![text.clone()],
            Prompt::Texts(texts) => texts.clone(),
            Prompt::Tokens(_) | Prompt::TokenLists(_) => Vec::new(),
        };
        let choices_each = usize::try_from(body.n.unwrap_or(1)).unwrap_or(usize::MAX);
        Echo { texts, choices_each }
    }

    /// The choices of the first prompt come first, then those of the second, and so on.
    pub(super) fn before(&self, choice: u32) -> &str {
        let choice = usize::try_from(choice).unwrap_or(usize::MAX);
        let prompt = choice.checked_div(self.choices_each).unwrap_or(usize::MAX);
        self.texts.get(prompt).map_or("", String::as_str)
    }
}
