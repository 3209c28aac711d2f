//! Characters in conversations: the prompts that they add.

use characters::CharacterCard;
use http_frame::app::AppState;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use store::character::{CharacterWrite, StoredCharacter};
use store::write::WriteGroup;

/// A character with its card.
pub(super) struct ChatCharacter {
    pub(super) character: StoredCharacter,
    card: CharacterCard,
}

/// Prompts before and after the conversation.
#[derive(Debug, Default)]
pub(super) struct SurroundingPrompts {
    pub(super) system_prompt: String,
    pub(super) last_words: String,
}

impl ChatCharacter {
    /// Finds a character, or refuses with 404.
    pub(super) async fn find(app: &AppState, slug: &str) -> Result<ChatCharacter, Refusal> {
        let unknown = || {
            let message = "No character could be found from the provided character_slug";
            Refusal::not_found("Character not found", message)
        };
        let found = app.store.character(slug, None).await.map_err(Refusal::unavailable)?;
        let character = found.ok_or_else(unknown)?.character;
        let content = app.store.character_content(character.id).await;
        let content = content.map_err(Refusal::unavailable)?.ok_or_else(unknown)?;
        let card = CharacterCard::parse(&content.card).map_err(Refusal::internal)?;
        Ok(ChatCharacter { character, card })
    }

    /// Counts the caller as a user of the character, in the background.
    pub(super) fn note_use(&self, call: &PaidCall) {
        let (character, owner) = (self.character.id, call.holder.owner.id);
        let write = CharacterWrite::NoteUse { character, owner, at: call.now };
        let commit = call.app.store.commit(WriteGroup::from_write(write.into()));
        call.app.tasks.spawn(async move {
            if let Err(error) = commit.await {
                tracing::warn!(error = %error, "a chat with a character was not counted: {error}");
            }
        });
    }
}

impl SurroundingPrompts {
    /// The character's prompt, then the service's own (unless the card placed it by
    /// `{{original}}`), then the web results.
    pub(super) fn build(
        chat_character: Option<&ChatCharacter>,
        turns: &[&str],
        user: Option<&str>,
        service_prompt: &str,
        web: Option<String>,
    ) -> SurroundingPrompts {
        let mut parts = Vec::new();
        let mut last_words = String::new();
        let mut is_placed = false;
        if let Some(chat_character) = chat_character {
            let persona = chat_character.card.build_prompts(turns, user, service_prompt);
            is_placed = chat_character.card.system_prompt.to_lowercase().contains("{{original}}");
            parts.push(persona.system_prompt);
            last_words = persona.last_words;
        }
        if !is_placed && !service_prompt.is_empty() {
            parts.push(service_prompt.to_owned());
        }
        parts.extend(web);
        SurroundingPrompts { system_prompt: parts.join("\n\n"), last_words }
    }
}
