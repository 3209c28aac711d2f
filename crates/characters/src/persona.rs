//! What a character puts before a chat, and behind it.

use crate::card::Card;

/// What the caller is called where the card says `{{user}}` and nobody says otherwise.
const USER: &str = "User";

/// What is added to a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// Stands first.
    pub system_prompt: String,
    /// Stands behind the conversation; may be empty.
    pub last_words: String,
}

impl Card {
    /// The persona for a conversation. `original` is the prompt of the service, which the card may
    /// place itself.
    pub fn persona(&self, turns: &[&str], user: Option<&str>, original: &str) -> Persona {
        let mut parts = Vec::new();
        if self.system_prompt.is_empty() {
            parts.push(
                "You are {{char}}. Stay in character, and answer as {{char}} would.".to_owned(),
            );
        } else {
            parts.push(replace(&self.system_prompt, "{{original}}", original));
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
        let known = self.book.as_ref().map(|book| book.told(turns)).unwrap_or_default();
        if !known.is_empty() {
            parts.push(format!("What {{{{char}}}} knows:\n{}", known.join("\n")));
        }
        Persona {
            system_prompt: self.named(&parts.join("\n\n"), user),
            last_words: self.named(&replace(&self.last_words, "{{original}}", ""), user),
        }
    }

    fn named(&self, text: &str, user: Option<&str>) -> String {
        let name = self.nickname.as_deref().unwrap_or(&self.name);
        let user = user.map(str::trim).filter(|user| !user.is_empty()).unwrap_or(USER);
        let text = replace(text, "{{char}}", name);
        let text = replace(&text, "<bot>", name);
        replace(&replace(&text, "{{user}}", user), "<user>", user)
    }
}

/// Whatever case the mark is written in. What is put in is not looked at again.
fn replace(text: &str, mark: &str, with: &str) -> String {
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
