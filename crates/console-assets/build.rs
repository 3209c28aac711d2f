//! Generates the tables of embedded files: the built console and the documentation pages.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Pages outside of `docs`, with their slugs.
const OUTSIDE: [(&str, &str); 5] = [
    ("README.md", "readme"),
    ("API-DESIGN.md", "api-design"),
    ("ARCHITECTURE.md", "architecture"),
    ("CONTRIBUTING.md", "contributing"),
    ("CHANGELOG.md", "changelog"),
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.ancestors().nth(2).unwrap_or(&here).to_owned();
    let mut text = String::from("pub static FILES: &[File] = &[\n");
    let dist = root.join("console/dist");
    for path in files_below(&dist)? {
        let name = relative(&path, &dist);
        let (tag, path) = (tag(&fs::read(&path)?), path.display());
        let _ = writeln!(
            text,
            "File {{ path: {name:?}, bytes: include_bytes!(r\"{path}\"), tag: {tag:?} }},"
        );
    }
    text.push_str("];\npub static PAGES: &[Page] = &[\n");
    let docs = root.join("docs");
    let outside = OUTSIDE.map(|(path, slug)| (root.join(path), slug.to_owned()));
    let inside =
        files_below(&docs)?.into_iter().filter(|it| it.extension().is_some_and(|it| it == "md"));
    let inside = inside.map(|path| {
        let slug = relative(&path, &docs).trim_end_matches(".md").to_lowercase();
        let slug = if slug == "readme" { "index".to_owned() } else { slug };
        (path, slug)
    });
    for (path, slug) in outside.into_iter().chain(inside) {
        let markdown = fs::read_to_string(&path)?;
        let title = markdown.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&slug);
        let (tag, path) = (tag(markdown.as_bytes()), path.display());
        let _ = writeln!(
            text,
            "Page {{ slug: {slug:?}, title: {title:?}, markdown: include_str!(r\"{path}\"), tag: {tag:?} }},"
        );
        println!("cargo:rerun-if-changed={path}");
    }
    text.push_str("];\n");
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed={}", docs.display());
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

fn relative(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// A content hash for ETags; it is not a security feature.
fn tag(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    format!("{:016x}", hasher.finish())
}
