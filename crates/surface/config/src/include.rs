//! `include = ["models/*.toml"]`: merges further files with models and providers.

use std::path::{Path, PathBuf};

use crate::fault::FaultList;
use crate::node::{ConfigNode, ConfigTable, ConfigValue};
use crate::origin::SettingOrigin;
use crate::sources::read_file;

/// The lists that an included file may contain.
const LISTS: [&str; 2] = ["provider", "model"];
/// More files than any catalogue needs.
const FILES_MAX: usize = 1000;

/// Appends the entries of every included file to the lists of `table`.
pub(crate) fn append_included_files(table: &mut ConfigTable, folder: &Path, faults: &FaultList) {
    let Some(ConfigNode { value: ConfigValue::List(patterns), .. }) = table.get("include") else {
        return;
    };
    let mut files: Vec<(PathBuf, SettingOrigin)> = Vec::new();
    for node in patterns {
        // Other types are reported when `include` is read as a list of strings.
        let ConfigValue::Text(pattern) = &node.value else { continue };
        match find_matching_files(folder, pattern) {
            Ok(found) => {
                let unseen =
                    found.into_iter().filter(|path| files.iter().all(|(seen, _)| seen != path));
                let unseen: Vec<_> = unseen.map(|path| (path, node.origin.clone())).collect();
                files.extend(unseen);
            }
            Err(problem) => faults.push(&node.origin, format!("`include`: {problem}")),
        }
    }
    for (path, origin) in files {
        let included = read_file(&path, &origin, faults);
        for (name, node) in included.entries() {
            append_entry(table, name, node, faults);
        }
    }
}

fn append_entry(table: &mut ConfigTable, name: &str, node: &ConfigNode, faults: &FaultList) {
    if !LISTS.contains(&name) {
        let message =
            format!("`{name}` in an included file; only [[model]] and [[provider]] go there");
        faults.push(&node.origin, message);
        return;
    }
    let ConfigValue::List(added) = &node.value else {
        faults.push(&node.origin, format!("write [[{name}]], with double brackets"));
        return;
    };
    let earlier = match table.get(name) {
        Some(ConfigNode { value: ConfigValue::List(items), .. }) => items.clone(),
        Some(_) | None => Vec::new(),
    };
    let origin = table.get(name).map_or_else(|| node.origin.clone(), |node| node.origin.clone());
    let value = ConfigValue::List(earlier.into_iter().chain(added.iter().cloned()).collect());
    table.insert(name, ConfigNode { value, origin });
}

/// Returns the files that match a pattern, in alphabetical order. A pattern without `*` is the path
/// of one file, which must exist.
fn find_matching_files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let whole = folder.join(pattern);
    if !pattern.contains('*') {
        return Ok(vec![whole]);
    }
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
    let (Some(parent), Some(name)) = (whole.parent(), name) else {
        return Err(format!("\"{pattern}\" names no files"));
    };
    if parent.to_string_lossy().contains('*') {
        return Err(format!("\"{pattern}\": `*` may stand in the file's name only"));
    }
    let entries = std::fs::read_dir(parent)
        .map_err(|error| format!("cannot read {}: {error}", parent.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("cannot read {}: {error}", parent.display()))?;
        if is_pattern_match(&name, &entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
        if FILES_MAX < found.len() {
            return Err(format!("\"{pattern}\" fits more than {FILES_MAX} files"));
        }
    }
    found.sort();
    Ok(found)
}

/// True if a name matches a pattern in which each `*` stands for any characters.
fn is_pattern_match(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    rest.char_indices()
        .map(|(offset, _)| offset)
        .chain([rest.len()])
        .any(|offset| is_pattern_match(after, &rest[offset..]))
}
