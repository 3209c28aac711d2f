//! `[chat]`: what every conversation has in common.

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const SYSTEM_PROMPT_CHARS_MAX: usize = 8_000;

pub const SECTION: Section = Section {
    name: "chat",
    form: Form::One,
    doc: "What every conversation has in common.",
    keys: &[Key::with_default(
        "system_prompt",
        Kind::Text,
        "\"Answer helpfully and to the point. Say so when you are not sure.\"",
        "Stands before the callers' own system prompts, who pay for its tokens and may decline it \
         with `include_service_system_prompt`. Empty for none.",
    )],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub system_prompt: String,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Chat> {
    let system_prompt = reader.text("system_prompt")?;
    if SYSTEM_PROMPT_CHARS_MAX < system_prompt.chars().count() {
        let message = format!(
            "`system_prompt` in [chat] must be at most {SYSTEM_PROMPT_CHARS_MAX} characters long"
        );
        reader.fault("system_prompt", message);
        return None;
    }
    Some(Chat { system_prompt })
}
