//! Checks that every crate uses the workspace's lints, which forbid `unsafe`, except crates that
//! load a library.

use crate::tree::TextFile;

/// These deny `unsafe` instead, so that each use must state its reason.
const LOADS_A_LIBRARY: [&str; 1] = ["crates/models/llama/Cargo.toml"];

pub(crate) fn check_unsafe_code(file: &TextFile) -> Option<String> {
    let path = file.path.as_str();
    if !path.starts_with("crates/") || !path.ends_with("/Cargo.toml") {
        return None;
    }
    let is_exempt = LOADS_A_LIBRARY.contains(&path);
    let wanted = if is_exempt { "unsafe_code = \"deny\"" } else { "[lints]\nworkspace = true" };
    let is_there = file.text.contains(wanted);
    (!is_there).then(|| format!("{path}: must have `{}`", wanted.replace('\n', " ")))
}
