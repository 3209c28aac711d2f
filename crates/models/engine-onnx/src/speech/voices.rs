//! The voices of each model that we can provide phonemes for.

use std::path::Path;

pub use phonemes::EnglishAccent;

use super::{SpeechError, unreadable_error};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeechVoice {
    pub name: String,
    pub accent: EnglishAccent,
}

/// Distilled from Kokoro's voice of the same name.
pub(super) fn list_hibari_voices() -> Vec<SpeechVoice> {
    vec![SpeechVoice { name: "af_heart".to_owned(), accent: EnglishAccent::American }]
}

/// One file per voice. The first letter of its name is its language; voices of languages that we
/// cannot read are left out.
pub(super) fn list_kokoro_voices(folder: &Path) -> Result<Vec<SpeechVoice>, SpeechError> {
    let folder = folder.join("voices");
    let files = std::fs::read_dir(&folder).map_err(|error| unreadable_error(&folder, error))?;
    let mut voices = Vec::new();
    for file in files {
        let name = file.map_err(|error| unreadable_error(&folder, error))?.file_name();
        let name = name.to_str().and_then(|it| it.strip_suffix(".bin"));
        voices.extend(name.and_then(|name| {
            Some(SpeechVoice { name: name.to_owned(), accent: parse_accent(name)? })
        }));
    }
    voices.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(voices)
}

fn parse_accent(name: &str) -> Option<EnglishAccent> {
    match name.chars().next()? {
        'a' => Some(EnglishAccent::American),
        'b' => Some(EnglishAccent::British),
        _ => None,
    }
}
