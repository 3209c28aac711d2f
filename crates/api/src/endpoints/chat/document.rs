//! Documents in a chat: what is text is read, a PDF goes to models that can, and what is neither
//! is refused by name.

use domain::catalogue::{Capability, TextSpec};
use domain::media::{self, Inline, Source};
use engine::PartKind;
use wire::chat::FileData;

use super::media::told;

const PDF: &str = "application/pdf";
/// Types that are text although their names do not begin with it.
const TEXT_TYPES: [&str; 8] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/toml",
    "application/javascript",
    "application/x-yaml",
    "application/x-sh",
    "application/sql",
];

/// The document as a part of the prompt for one model, or what keeps it from being one.
pub(super) fn part(file: &FileData, text: &TextSpec) -> Result<PartKind, String> {
    let reads_documents = text.has(Capability::Documents);
    match media::source(&file.file_data).map_err(|fault| told("file", fault))? {
        Source::Inline(inline) if is_text(&inline.media_type) => {
            Ok(PartKind::Text(written_out(file, &inline)?))
        }
        Source::Inline(inline) if inline.media_type != PDF => Err(format!(
            "Files of type {:?} cannot be read here; send their text instead",
            inline.media_type
        )),
        Source::Inline(inline) if reads_documents => {
            inline.bytes().map_err(|fault| told("file", fault))?;
            Ok(passed_on(file))
        }
        Source::Address if reads_documents => Ok(passed_on(file)),
        Source::Inline(_) => {
            Err("This model does not read PDF files; send their text instead".to_owned())
        }
        Source::Address => Err("This model does not fetch files; send the file as a data URL, \
             such as data:text/plain;base64,…"
            .to_owned()),
    }
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || TEXT_TYPES.contains(&media_type)
}

fn passed_on(file: &FileData) -> PartKind {
    PartKind::Document { url: file.file_data.clone(), name: file.filename.clone() }
}

fn written_out(file: &FileData, inline: &Inline<'_>) -> Result<String, String> {
    let bytes = inline.bytes().map_err(|fault| told("file", fault))?;
    let text = String::from_utf8(bytes).map_err(|_| "The file is not UTF-8 text".to_owned())?;
    Ok(match &file.filename {
        Some(name) => format!("[File: {name}]\n{text}"),
        None => text,
    })
}
