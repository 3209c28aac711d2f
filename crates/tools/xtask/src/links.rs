//! Checks that links between documents lead to existing files.

use std::path::{Component, Path, PathBuf};

use crate::tree::TextFile;

pub(crate) fn check_links(root: &Path, file: &TextFile) -> Vec<String> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut problems = Vec::new();
    for (line, target) in find_targets(&file.text) {
        let is_there = match resolve_target(folder, target) {
            Some(path) => root.join(path).exists(),
            None => false,
        };
        if !is_there {
            problems.push(format!("{}:{line}: the link `{target}` leads nowhere", file.path));
        }
    }
    problems
}

/// The line and target of each link to a file, outside of code.
pub(crate) fn find_targets(text: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second piece between backticks is code.
        for prose in line.split('`').step_by(2) {
            let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            let files = links.filter_map(file_of).map(|file| (index + 1, file));
            targets.extend(files);
        }
    }
    targets
}

/// The path of a link without its anchor; `None` for URLs and bare anchors.
fn file_of(link: &str) -> Option<&str> {
    let path = link.split(['#', ' ']).next()?;
    let is_address = path.contains("://") || path.starts_with("mailto:");
    (!is_address && !path.is_empty()).then_some(path)
}

/// The target as a path from the root; `None` if it is outside the repository.
fn resolve_target(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => (),
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}
