//! The operator's own GGUF files: reads their metadata and detects truncated files.
//!
//! Does not use the runtime, so that the gateway knows the available models and the runtime never
//! gets a truncated file.

mod head;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use self::head::GgufHead;

/// The metadata of a file's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufMetadata {
    pub architecture: String,
    /// The name given by the model's author.
    pub name: Option<String>,
    /// The context length that the model was trained for.
    pub context_tokens: u64,
    /// True if the chat template explains tools and calls to the model.
    pub has_tools: bool,
    /// Number of layers, if the file states it.
    pub layers: Option<u32>,
    pub bytes: u64,
}

/// The reason why a file cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GgufError {
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("it is no GGUF file")]
    Stranger,
    #[error("its GGUF version is {0}; 2 and 3 are supported")]
    Version(u32),
    #[error("it is truncated: it has {bytes} of {needed} bytes; download it again")]
    Cut { bytes: u64, needed: u64 },
    #[error("its header is invalid: {0}")]
    Malformed(&'static str),
}

/// A file of the operator's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorModelFile {
    /// The file name without its extension; the model's id.
    pub stem: String,
    pub path: PathBuf,
    pub facts: Result<GgufMetadata, GgufError>,
}

/// The extension of model files in the models directory.
pub const EXTENSION: &str = "gguf";

/// All GGUF files directly in the models directory, sorted by name.
pub fn list_model_files(models_dir: &Path) -> Vec<OperatorModelFile> {
    let files = std::fs::read_dir(models_dir).into_iter().flatten().flatten();
    let mut dropped: Vec<OperatorModelFile> =
        files.filter_map(|file| read_model_file(file.path())).collect();
    dropped.sort_by(|one, other| one.stem.cmp(&other.stem));
    dropped
}

/// Reads the metadata, and checks the file's length against it.
pub fn read_metadata(path: &Path) -> Result<GgufMetadata, GgufError> {
    let file = File::open(path).map_err(to_gguf_error)?;
    let bytes = file.metadata().map_err(to_gguf_error)?.len();
    let head = GgufHead::read(BufReader::new(file), bytes)?;
    if bytes < head.needed_bytes {
        return Err(GgufError::Cut { bytes, needed: head.needed_bytes });
    }
    let architecture = head.architecture.ok_or(GgufError::Malformed("no architecture"))?;
    let template = head.template.unwrap_or_default();
    Ok(GgufMetadata {
        architecture,
        name: head.name,
        context_tokens: head.context_tokens.ok_or(GgufError::Malformed("no context length"))?,
        has_tools: template.contains("tools") && template.contains("<tool_call>"),
        layers: head.layers.and_then(|layers| u32::try_from(layers).ok()),
        bytes,
    })
}

fn read_model_file(path: PathBuf) -> Option<OperatorModelFile> {
    let is_gguf = path.extension().is_some_and(|it| it == EXTENSION) && path.is_file();
    if !is_gguf {
        return None;
    }
    let stem = path.file_stem()?.to_str()?.to_owned();
    let facts = read_metadata(&path);
    Some(OperatorModelFile { stem, path, facts })
}

fn to_gguf_error(error: std::io::Error) -> GgufError {
    GgufError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests;
