//! The prompts that a character adds before and after a chat.

use crate::card::CharacterCard;

/// Default replacement of `{{user}}` in a card.
const USER: &str = "User";

/// The prompts to add to a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterPrompts {
    /// Goes before the conversation.
    pub system_prompt: String,
    /// Goes after the conversation. May be empty.
    pub last_words: String,
}

impl CharacterCard {
    /// Builds the prompts for a conversation. `original` is the service's system prompt, which
    /// replaces `{{original}}` in the card's own.
    pub fn build_prompts(
        &self,
        turns: &[&str],
        user: Option<&str>,
        original: &str,
    ) -> CharacterPrompts {
        let mut parts = Vec::new();
        if self.system_prompt.is_empty() {
            parts.push(
                "You are {{char}}. Stay in character, and answer as {{char}} would.".to_owned(),
            );
        } else {
            parts.push(replace_placeholder(&self.system_prompt, "{{original}}", original));
        }
        for (heading, text) in [
            ("About {{char}}", &self.description),
            ("Personality", &self.personality),
            ("Scenario", &self.scenario),
            ("How {{char}} speaks", &self.examples),
        ] {
            if !text.is_empty() {
                parts.push(format!("{heading}:\n{text}"));
            }
        }
        let known = self.book.as_ref().map(|book| book.matching_entries(turns)).unwrap_or_default();
        if !known.is_empty() {
            parts.push(format!("What {{{{char}}}} knows:\n{}", known.join("\n")));
        }
        CharacterPrompts {
            system_prompt: self.fill_names(&parts.join("\n\n"), user),
            last_words: self
                .fill_names(&replace_placeholder(&self.last_words, "{{original}}", ""), user),
        }
    }

    fn fill_names(&self, text: &str, user: Option<&str>) -> String {
        let name = self.nickname.as_deref().unwrap_or(&self.name);
        let user = user.map(str::trim).filter(|user| !user.is_empty()).unwrap_or(USER);
        let text = replace_placeholder(text, "{{char}}", name);
        let text = replace_placeholder(&text, "<bot>", name);
        replace_placeholder(&replace_placeholder(&text, "{{user}}", user), "<user>", user)
    }
}

/// Replaces a placeholder, case-insensitively. Replacements are not scanned again.
fn replace_placeholder(text: &str, mark: &str, with: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut replaced = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = lower[from..].find(mark) {
        replaced.push_str(&text[from..from + at]);
        replaced.push_str(with);
        from += at + mark.len();
    }
    replaced.push_str(&text[from..]);
    replaced
}
