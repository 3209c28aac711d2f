//! `cargo xtask tidy`: runs every check and reports all problems together.

use crate::{hosts, layers, licences, links, lockfile, reach, sources, tree, unsafety};

pub(crate) fn run() -> Result<String, String> {
    let root = tree::root();
    let files = tree::text_files(&root)?;
    let mut problems = layers::problems(&root)?;
    problems.extend(reach::problems(&root)?);
    let lock = files.iter().find(|file| file.path == "Cargo.lock");
    let lock = lock.map(|file| file.text.as_str()).ok_or("Cargo.lock is not in the repository")?;
    let policy = licences::Policy::read(&root)?;
    problems.extend(lockfile::banned(lock, &policy.banned));
    problems.extend(licences::problems(&root, &policy)?);
    for file in &files {
        problems.extend(sources::problems(file));
        problems.extend(unsafety::problems(file));
        problems.extend(hosts::problems(file));
        problems.extend(links::problems(&root, file));
    }
    if !problems.is_empty() {
        return Err(format!("{}\n{} problem(s)", problems.join("\n"), problems.len()));
    }
    let duplicates = lockfile::duplicates(lock);
    Ok(format!("{}tidy: {} files, no problems", notes(&duplicates), files.len()))
}

/// Duplicate versions cost build time but are sometimes unavoidable: reported, not refused.
fn notes(duplicates: &[String]) -> String {
    duplicates.iter().map(|it| format!("note: several versions of {it}\n")).collect()
}
