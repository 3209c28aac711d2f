//! `cargo xtask openapi`: rewrites the committed document from the code that serves it.

use std::fs;

use crate::{command, tree};

const DOCUMENT: &str = "openapi.json";

pub(crate) fn rewrite_document() -> Result<String, String> {
    let root = tree::workspace_root();
    let arguments = ["run", "--quiet", "--package", "cli", "--", "openapi"];
    let document = command::run_command(&root, "cargo", &arguments)?;
    fs::write(root.join(DOCUMENT), &document)
        .map_err(|error| format!("could not write {DOCUMENT}: {error}"))?;
    Ok(format!("{DOCUMENT}: {} bytes", document.len()))
}
