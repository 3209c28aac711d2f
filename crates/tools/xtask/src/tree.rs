//! The files of the repository: those that git tracks or would track if added.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command;

/// A text file with its path relative to the root.
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the workspace: three levels above this crate.
pub(crate) fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

/// All text files; files that are not UTF-8 are binary and skipped.
pub(crate) fn text_files(root: &Path) -> Result<Vec<TextFile>, String> {
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let mut files = Vec::new();
    for path in command::run_command(root, "git", &listing)?.split_terminator('\0') {
        let full = root.join(path);
        // A deleted file stays listed until the deletion is committed.
        if !full.is_file() {
            continue;
        }
        let bytes = fs::read(&full).map_err(|error| format!("could not read {path}: {error}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    Ok(files)
}
