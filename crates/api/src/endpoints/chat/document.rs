//! Documents in a chat: what is text is read, and what is not is refused by name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wire::chat::FileData;

const DOCUMENT_BYTES_MAX: usize = 25 * 1024 * 1024;
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

/// The document as a part of the prompt.
pub(super) fn text_of(file: &FileData) -> Result<String, String> {
    let Some((head, data)) =
        file.file_data.strip_prefix("data:").and_then(|rest| rest.split_once(','))
    else {
        return Err("Send the file as a data URL, such as data:text/plain;base64,…".to_owned());
    };
    let media_type = head.split(';').next().unwrap_or_default();
    let is_text = media_type.starts_with("text/") || TEXT_TYPES.contains(&media_type);
    if !is_text {
        return Err(format!(
            "Files of type {media_type:?} cannot be read here; send their text instead"
        ));
    }
    if !head.ends_with(";base64") {
        return Err("Encode the file's data URL in base64".to_owned());
    }
    let bytes = STANDARD.decode(data).map_err(|_| "The file is not valid base64".to_owned())?;
    if DOCUMENT_BYTES_MAX < bytes.len() {
        return Err("The file exceeds the maximum allowed size of 25 MB".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "The file is not UTF-8 text".to_owned())?;
    Ok(match &file.filename {
        Some(name) => format!("[File: {name}]\n{text}"),
        None => text,
    })
}
