//! Nothing in the tree may tie it to one machine or to one package registry's address.

use crate::tree::TextFile;

/// Written by their tools, with addresses that the tools need.
const GENERATED: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];
/// Home directories, as they begin.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];
/// Registries, in two halves so that this file does not name them.
const REGISTRY_HOSTS: [&str; 7] = [
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("deb.", "debian.org"),
    concat!("arti", "factory"),
];

pub(crate) fn problems(file: &TextFile) -> Vec<String> {
    let path = &file.path;
    let mut problems = Vec::new();
    if GENERATED.contains(&path.as_str()) {
        return problems;
    }
    for (index, line) in file.text.lines().enumerate() {
        let number = index + 1;
        for found in MACHINE_PATHS.iter().filter(|it| line.contains(*it)) {
            problems.push(format!("{path}:{number}: `{found}` is a path of one machine"));
        }
        for found in REGISTRY_HOSTS.iter().filter(|it| line.contains(*it)) {
            problems.push(format!("{path}:{number}: `{found}` names a package registry"));
        }
    }
    problems
}
