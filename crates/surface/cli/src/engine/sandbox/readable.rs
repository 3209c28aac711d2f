//! Computes the readable paths: everything except a few hidden files and folders.
//!
//! Landlock can only allow access. To exclude a path, all siblings on the way down to it are
//! allowed one by one.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// Model files are never secret and stay readable inside hidden folders.
const MODEL: &str = "gguf";

/// Returns the files and folders to allow so that the `hidden` paths are excluded. `hidden` must be
/// canonical: absolute and without symlinks.
pub(super) fn find_readable_paths(hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.is_empty() {
        return vec![PathBuf::from("/")];
    }
    let mut readable = Vec::new();
    add_readable_paths(Path::new("/"), hidden, &mut readable);
    readable
}

fn add_readable_paths(folder: &Path, hidden: &[PathBuf], readable: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    // Symlinks are skipped: allowing one would allow its target, which may be hidden. Targets that
    // are not hidden are allowed by their own paths.
    let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    for entry in entries.flatten().filter(|entry| !is_link(entry)) {
        let path = entry.path();
        if hidden.contains(&path) {
            add_models(&path, readable);
        } else if hidden.iter().any(|it| it.starts_with(&path)) {
            add_readable_paths(&path, hidden, readable);
        } else {
            readable.push(path);
        }
    }
}

fn add_models(folder: &Path, readable: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_file()));
    let models = files.map(|entry| entry.path());
    readable.extend(models.filter(|path| path.extension() == Some(OsStr::new(MODEL))));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn everything_is_readable_but_what_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for made in ["data/models", "other", "data/media"] {
            fs::create_dir_all(top.join(made)).unwrap();
        }
        for made in ["data/tollgate.db", "data/own.gguf", "tollgate.toml", "note"] {
            fs::write(top.join(made), "").unwrap();
        }
        symlink(top.join("data"), top.join("link")).unwrap();
        let mut readable = find_readable_paths(&[top.join("data"), top.join("tollgate.toml")]);
        readable.retain(|path| path.starts_with(&top));
        readable.sort();
        assert_eq!(readable, [top.join("data/own.gguf"), top.join("note"), top.join("other")]);
    }

    #[test]
    fn what_is_hidden_is_never_beneath_what_is_readable() {
        let folder = tempfile::tempdir().unwrap();
        let hidden = [folder.path().canonicalize().unwrap()];
        let readable = find_readable_paths(&hidden);
        assert!(readable.iter().all(|path| !hidden[0].starts_with(path)));
        assert!(readable.contains(&PathBuf::from("/usr")));
    }
}
