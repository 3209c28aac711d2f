//! The voices of each model that we can provide phonemes for.

use std::path::Path;

pub use phonemes::Accent;

use super::{Error, unreadable};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    pub name: String,
    pub accent: Accent,
}

/// Distilled from Kokoro's voice of the same name.
pub(super) fn hibari() -> Vec<Voice> {
    vec![Voice { name: "af_heart".to_owned(), accent: Accent::American }]
}

/// One file per voice. The first letter of its name is its language; voices of languages that we
/// cannot read are left out.
pub(super) fn kokoro(folder: &Path) -> Result<Vec<Voice>, Error> {
    let folder = folder.join("voices");
    let files = std::fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))?;
    let mut voices = Vec::new();
    for file in files {
        let name = file.map_err(|error| unreadable(&folder, error))?.file_name();
        let name = name.to_str().and_then(|it| it.strip_suffix(".bin"));
        voices.extend(
            name.and_then(|name| Some(Voice { name: name.to_owned(), accent: accent(name)? })),
        );
    }
    voices.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(voices)
}

fn accent(name: &str) -> Option<Accent> {
    match name.chars().next()? {
        'a' => Some(Accent::American),
        'b' => Some(Accent::British),
        _ => None,
    }
}
