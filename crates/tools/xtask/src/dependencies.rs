//! Checks the direct and indirect dependencies of crates.

use std::path::Path;

use crate::command;

/// Crates of rules and types without I/O.
const PURE: [&str; 15] = [
    "money",
    "ledger-core",
    "moment",
    "wire",
    "schema-check",
    "audio-probe",
    "documents",
    "pages",
    "characters",
    "domain",
    "engine",
    "wallet",
    "phonemes",
    "sign-in",
    "card-payments",
];
/// Dependencies that would bring a clock, a socket or a disk into them.
const IMPURE: [&str; 4] = ["tokio", "axum", "reqwest", "rusqlite"];
/// The gateway's top crates: none of their dependencies may compile a model runtime.
const GATEWAY: [&str; 3] = ["cli", "it", "bench"];
/// The model runtimes, and our crates that use them.
const RUNTIMES: [&str; 5] = ["llama", "ort", "engine-local", "engine-text", "engine-onnx"];

pub(crate) fn check_dependencies(root: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (packages, banned) in [(&PURE[..], &IMPURE[..]), (&GATEWAY, &RUNTIMES)] {
        for package in packages {
            let reached = packages_of(root, package)?;
            for name in banned.iter().filter(|it| reached.iter().any(|name| name == *it)) {
                problems.push(format!("{package}: reaches {name}, and must stay free of it"));
            }
        }
    }
    Ok(problems)
}

fn packages_of(root: &Path, package: &str) -> Result<Vec<String>, String> {
    let shape = ["--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let arguments = [&["tree", "--package", package], shape.as_slice()].concat();
    let mut names: Vec<String> = Vec::new();
    for line in command::run_command(root, "cargo", &arguments)?.lines() {
        let name_and_version: Vec<&str> = line.split_whitespace().take(2).collect();
        if let [name, _] = name_and_version.as_slice() {
            names.push((*name).to_owned());
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}
