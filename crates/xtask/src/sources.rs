//! The shape of a source file: it says what it is for, it is short, and it is finished.

use crate::tree::TextFile;

const LINES_MAX: usize = 500;
/// Written by tools, and as long as they make them.
const GENERATED: [&str; 1] = ["crates/llama/src/bindings.rs"];
const SOURCE_ENDINGS: [&str; 5] = [".rs", ".sh", ".py", ".mjs", ".sql"];
/// Marks of unfinished work, in two halves so that this file does not contain them.
const UNFINISHED: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

pub(crate) fn problems(file: &TextFile) -> Vec<String> {
    let path = &file.path;
    let mut problems = Vec::new();
    if !SOURCE_ENDINGS.iter().any(|it| path.ends_with(it)) {
        return problems;
    }
    if path.ends_with(".rs") && !file.text.starts_with("//! ") {
        problems.push(format!("{path}:1: start the file with `//!` and what it is for"));
    }
    let lines = file.text.lines().count();
    if LINES_MAX < lines && !GENERATED.contains(&path.as_str()) {
        problems.push(format!("{path}: {lines} lines; split it, {LINES_MAX} is the most"));
    }
    for (index, line) in file.text.lines().enumerate() {
        for mark in UNFINISHED.iter().filter(|it| line.contains(*it)) {
            problems.push(format!("{path}:{}: `{mark}`: finish it or open an issue", index + 1));
        }
    }
    problems
}
