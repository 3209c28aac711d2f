//! Generates the tables of embedded files: the built console and the documentation pages.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The pages for callers, by their paths in the repository, in reading order.
const CALLER_PAGES: [&str; 16] = [
    "docs/from-openai.md",
    "docs/from-openrouter.md",
    "docs/agents.md",
    "docs/mcp.md",
    "docs/stored-responses.md",
    "docs/batches.md",
    "docs/endpoints.md",
    "docs/recipes.md",
    "docs/errors.md",
    "docs/limits.md",
    "docs/pricing.md",
    "docs/payments.md",
    "docs/rpc-methods.md",
    "docs/console.md",
    "API-DESIGN.md",
    "CHANGELOG.md",
];
/// The pages for operators. Pages for contributors are not part of the program.
const OPERATOR_PAGES: [&str; 11] = [
    "README.md",
    "docs/operating.md",
    "docs/config.md",
    "docs/engines.md",
    "docs/packaging.md",
    "docs/scale.md",
    "docs/security.md",
    "docs/reliability.md",
    "docs/benchmarks.md",
    "docs/from-litellm.md",
    "docs/from-new-api.md",
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.ancestors().nth(3).unwrap_or(&here).to_owned();
    let mut text = String::from("pub static FILES: &[ConsoleFile] = &[\n");
    let dist = root.join("console/dist");
    for path in files_below(&dist)? {
        let name = to_relative_path(&path, &dist);
        let (tag, path) = (hash_content(&fs::read(&path)?), path.display());
        let _ = writeln!(
            text,
            "ConsoleFile {{ path: {name:?}, bytes: include_bytes!(r\"{path}\"), tag: {tag:?} }},"
        );
    }
    text.push_str("];\npub static PAGES: &[EmbeddedPage] = &[\n");
    let of_callers = CALLER_PAGES.iter().map(|path| (path, false));
    let of_operators = OPERATOR_PAGES.iter().map(|path| (path, true));
    for (path, is_for_operators) in of_callers.chain(of_operators) {
        let slug = path.trim_start_matches("docs/").trim_end_matches(".md").to_lowercase();
        let path = root.join(path);
        let markdown = fs::read_to_string(&path)?;
        let title = markdown.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&slug);
        let (tag, path) = (hash_content(markdown.as_bytes()), path.display());
        let _ = writeln!(
            text,
            "EmbeddedPage {{ slug: {slug:?}, title: {title:?}, markdown: include_str!(r\"{path}\"), \
             tag: {tag:?}, is_for_operators: {is_for_operators} }},"
        );
        println!("cargo:rerun-if-changed={path}");
    }
    text.push_str("];\n");
    println!("cargo:rerun-if-changed={}", dist.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("tables.rs"), text)
}

/// Every file below a folder, sorted by name; empty if the folder does not exist.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn to_relative_path(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// A content hash for ETags; it is not a security feature.
fn hash_content(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    format!("{:016x}", hasher.finish())
}
