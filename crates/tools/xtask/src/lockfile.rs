//! Checks `Cargo.lock` for banned packages and lists duplicates.

use std::collections::BTreeMap;

pub(crate) fn find_banned(lock: &str, names: &[String]) -> Vec<String> {
    let is_banned = |(name, _): &(&str, &str)| names.iter().any(|it| it == name);
    let problem = |(name, version): (&str, &str)| {
        format!("Cargo.lock: {name} {version} is banned; `cargo tree -i {name}` shows who wants it")
    };
    parse_packages(lock).filter(is_banned).map(problem).collect()
}

/// Each crate with several versions, as `name: 1.0.0, 2.0.0`.
pub(crate) fn find_duplicates(lock: &str) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, version) in parse_packages(lock) {
        versions.entry(name).or_default().push(version);
    }
    let several = versions.into_iter().filter(|(_, versions)| 1 < versions.len());
    several.map(|(name, versions)| format!("{name}: {}", versions.join(", "))).collect()
}

/// The names and versions; in a lock file each name is followed by its version.
fn parse_packages(lock: &str) -> impl Iterator<Item = (&str, &str)> {
    lock.split("[[package]]").skip(1).filter_map(|package| {
        let name = parse_quoted(package, "name = ")?;
        let version = parse_quoted(package, "version = ")?;
        Some((name, version))
    })
}

fn parse_quoted<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"'))
}
