//! Checks that every package comes from the registry, under a licence that `deny.toml` allows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command;

/// The rules of `deny.toml` that can be checked without an advisory database.
#[derive(Debug, Default)]
pub(crate) struct DenyPolicy {
    allowed: Vec<String>,
    /// A package, and its additional permitted licences.
    exceptions: Vec<(String, Vec<String>)>,
    pub(crate) banned: Vec<String>,
}

impl DenyPolicy {
    pub(crate) fn read(root: &Path) -> Result<DenyPolicy, String> {
        let text = fs::read_to_string(root.join("deny.toml"))
            .map_err(|error| format!("could not read deny.toml: {error}"))?;
        DenyPolicy::parse(&text)
    }

    pub(crate) fn parse(text: &str) -> Result<DenyPolicy, String> {
        let file: toml::Table =
            toml::from_str(text).map_err(|error| format!("deny.toml: {error}"))?;
        let file = serde_json::to_value(file).map_err(|error| format!("deny.toml: {error}"))?;
        let exceptions = file["licenses"]["exceptions"].as_array().map(Vec::as_slice);
        let exception = |it: &Value| {
            let package = it["crate"].as_str().unwrap_or_default().to_owned();
            (package, parse_texts(&it["allow"]))
        };
        Ok(DenyPolicy {
            allowed: parse_texts(&file["licenses"]["allow"]),
            exceptions: exceptions.unwrap_or_default().iter().map(exception).collect(),
            banned: parse_texts(&file["bans"]["deny"]),
        })
    }

    fn allows(&self, package: &str, licence: &str) -> bool {
        let besides = self.exceptions.iter().filter(|(name, _)| name == package);
        let mut besides = besides.flat_map(|(_, licences)| licences);
        self.allowed.iter().any(|it| it == licence) || besides.any(|it| it == licence)
    }
}

fn parse_texts(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

pub(crate) fn check_licences(root: &Path, policy: &DenyPolicy) -> Result<Vec<String>, String> {
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let metadata = command::run_command(root, "cargo", &arguments)?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("`cargo metadata` printed something else than JSON: {error}"))?;
    Ok(check_packages(&metadata, policy))
}

pub(crate) fn check_packages(metadata: &Value, policy: &DenyPolicy) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let source = package["source"].as_str();
        if source.is_some_and(|source| !source.starts_with("registry+")) {
            problems.push(format!("{name}: comes from {}", source.unwrap_or_default()));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence, &|one| policy.allows(name, one)) {
            problems.push(format!("{name}: its licence is `{licence}`; deny.toml allows others"));
        }
    }
    problems
}

/// Evaluates an SPDX expression with `OR` and `AND`; `AND` binds tighter. Older packages write `/`
/// for `OR`. Supports one level of brackets, which is all that packages use.
fn is_allowed(expression: &str, allows: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ");
    split_expression(&expression, "OR").iter().any(|either| {
        split_expression(either, "AND").iter().all(|one| match one.strip_prefix('(') {
            Some(inner) => is_allowed(inner.trim_end_matches(')'), allows),
            None => allows(one),
        })
    })
}

/// Splits at a word outside of brackets.
fn split_expression(expression: &str, at: &str) -> Vec<String> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0_usize;
    for word in expression.split_whitespace() {
        if word == at && depth == 0 {
            parts.push(Vec::new());
            continue;
        }
        depth = (depth + word.matches('(').count()).saturating_sub(word.matches(')').count());
        if let Some(part) = parts.last_mut() {
            part.push(word);
        }
    }
    parts.iter().map(|words| words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy() -> DenyPolicy {
        let text = "[licenses]\nallow = [\"MIT\", \"ISC\", \"A WITH B\"]\n\
                    exceptions = [{ crate = \"mp3\", allow = [\"LGPL-3.0\"] }]\n\
                    [bans]\ndeny = [\"openssl\"]\n";
        DenyPolicy::parse(text).unwrap()
    }

    #[test]
    fn a_choice_needs_one_licence_and_a_sum_all_of_them() {
        let is_fine = |licence: &str| is_allowed(licence, &|one| policy().allows("x", one));
        for licence in ["MIT", "GPL-3.0 OR MIT", "GPL/MIT", "MIT AND ISC", "A WITH B OR X"] {
            assert!(is_fine(licence), "{licence}");
        }
        assert!(is_fine("(MIT OR GPL-3.0) AND ISC"));
        for licence in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "LGPL-3.0"] {
            assert!(!is_fine(licence), "{licence}");
        }
    }

    #[test]
    fn strangers_and_other_sources_are_told() {
        let metadata = json!({"packages": [
            {"name": "ours", "license": "MIT", "source": null},
            {"name": "mp3", "license": "LGPL-3.0", "source": "registry+x"},
            {"name": "odd", "license": "LGPL-3.0", "source": "git+https://x"},
        ]});
        let problems = check_packages(&metadata, &policy());
        assert_eq!(
            problems,
            [
                "odd: comes from git+https://x",
                "odd: its licence is `LGPL-3.0`; deny.toml allows others",
            ]
        );
    }
}
