//! `cargo xtask tidy`: runs every check and reports all problems together.

use crate::{
    dependencies, layers, licences, links, lockfile, machine_paths, sources, tree, unsafe_code,
};

pub(crate) fn run_checks() -> Result<String, String> {
    let root = tree::workspace_root();
    let files = tree::text_files(&root)?;
    let mut problems = layers::check_layers(&root)?;
    problems.extend(dependencies::check_dependencies(&root)?);
    let lock = files.iter().find(|file| file.path == "Cargo.lock");
    let lock = lock.map(|file| file.text.as_str()).ok_or("Cargo.lock is not in the repository")?;
    let policy = licences::DenyPolicy::read(&root)?;
    problems.extend(lockfile::find_banned(lock, &policy.banned));
    problems.extend(licences::check_licences(&root, &policy)?);
    for file in &files {
        problems.extend(sources::check_sources(file));
        problems.extend(unsafe_code::check_unsafe_code(file));
        problems.extend(machine_paths::check_machine_paths(file));
        problems.extend(links::check_links(&root, file));
    }
    if !problems.is_empty() {
        return Err(format!("{}\n{} problem(s)", problems.join("\n"), problems.len()));
    }
    let duplicates = lockfile::find_duplicates(lock);
    Ok(format!("{}tidy: {} files, no problems", format_notes(&duplicates), files.len()))
}

/// Duplicate versions cost build time but are sometimes unavoidable: reported, not refused.
fn format_notes(duplicates: &[String]) -> String {
    duplicates.iter().map(|it| format!("note: several versions of {it}\n")).collect()
}
