//! The permitted dependencies between our crates: by the group that a crate's folder names, with
//! exceptions.

use std::path::Path;

use serde_json::Value;

use crate::command;

/// The groups (folders of `crates/`) from the bottom up, each with the groups that its crates may
/// use besides their own.
const GROUPS: [(&str, &[&str]); 8] = [
    ("ground", &[]),
    ("rules", &["ground"]),
    ("formats", &["ground"]),
    ("models", &["ground", "rules", "formats"]),
    ("store", &["ground", "rules"]),
    ("service", &["ground", "rules", "formats", "store"]),
    ("surface", &["ground", "rules", "formats", "models", "store", "service"]),
    ("tools", &["ground", "rules", "formats", "models", "store", "service", "surface"]),
];

/// Crates that may use only the crates listed here.
const ONLY: [(&str, &[&str]); 4] = [
    // The built-in engine is a separate process and shares nothing with the gateway.
    ("engine-local", &["engine-onnx", "engine-text", "audio-codec", "moment", "video", "weights"]),
    ("engine-onnx", &["audio-codec", "phonemes", "pictor-weights"]),
    ("engine-text", &["llama"]),
    ("tollgate", &["cli", "engine-local"]),
];

/// Crates that name no concrete store, engine or configuration: they use traits.
const NOT_WIRED: [&str; 4] = ["api", "config", "control", "http-frame"];
/// The concrete implementations that [`NOT_WIRED`] must not use.
const IMPLEMENTATIONS: [&str; 9] = [
    "config",
    "engine-local",
    "engine-onnx",
    "engine-text",
    "engine-upstream",
    "limits-redis",
    "llama",
    "media-store",
    "store-postgres",
];

/// The only crates that may depend on the test support.
const MAY_USE_TESTKIT: [&str; 2] = ["it", "bench"];

pub(crate) fn check_layers(root: &Path) -> Result<Vec<String>, String> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let metadata = command::run_command(root, "cargo", &arguments)?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("`cargo metadata` printed something else than JSON: {error}"))?;
    Ok(check_metadata(&metadata))
}

pub(crate) fn check_metadata(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    for package in packages {
        let (name, group) = (package_name(package), group_of(package));
        let Some((_, lower)) = GROUPS.iter().find(|(known, _)| *known == group) else {
            problems.push(format!("{name}: move the crate into one of the groups in `crates`"));
            continue;
        };
        for used in normal_dependencies(package) {
            let Some(used_package) = packages.iter().find(|it| package_name(it) == used) else {
                continue;
            };
            let used_group = group_of(used_package);
            let is_group_allowed = used_group == group || lower.contains(&used_group);
            if !is_group_allowed || !is_allowed(name, used) {
                problems.push(format!("{name}: must not depend on {used}"));
            }
        }
    }
    problems
}

fn is_allowed(name: &str, used: &str) -> bool {
    if used == "testkit" {
        return MAY_USE_TESTKIT.contains(&name);
    }
    if let Some((_, allowed)) = ONLY.iter().find(|(known, _)| *known == name) {
        return allowed.contains(&used);
    }
    !(NOT_WIRED.contains(&name) && IMPLEMENTATIONS.contains(&used))
}

fn package_name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// The folder that a package's own folder is in.
fn group_of(package: &Value) -> &str {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    manifest.rsplit('/').nth(2).unwrap_or_default()
}

/// Dependencies without those of tests only, which do not affect the product.
fn normal_dependencies(package: &Value) -> impl Iterator<Item = &str> {
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies.iter().filter(|it| it["kind"] != "dev").filter_map(|it| it["name"].as_str())
}
