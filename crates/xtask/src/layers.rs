//! The permitted dependencies between our crates, as a table. A crate must be listed to exist.

use std::path::Path;

use serde_json::Value;

use crate::command;

/// The crates of ours that each crate may use, from the bottom up.
const MAY_USE: &[(&str, &[&str])] = &[
    ("money", &[]),
    ("console-assets", &[]),
    ("moment", &[]),
    ("allocator", &[]),
    ("lanes", &[]),
    ("logging", &["moment"]),
    ("single-flight", &[]),
    ("background", &[]),
    ("schema-check", &[]),
    ("phonemes", &[]),
    ("weights", &[]),
    ("sound", &[]),
    ("engine", &[]),
    ("outbound", &["lanes"]),
    ("credits", &["money", "moment"]),
    ("wire", &["money"]),
    ("documents", &["moment"]),
    ("pages", &[]),
    ("pictures", &[]),
    ("video", &[]),
    ("reader", &["documents", "pages", "pictures", "sound"]),
    ("characters", &[]),
    ("domain", &["money", "moment"]),
    ("engine-upstream", &["engine", "lanes", "moment", "outbound"]),
    ("media", &["sound"]),
    ("pictor-weights", &[]),
    ("engine-onnx", &["media", "phonemes", "pictor-weights"]),
    ("llama", &[]),
    ("engine-text", &["llama"]),
    ("rpc", &["money", "moment", "outbound", "single-flight"]),
    ("wallet", &["money", "moment"]),
    ("web", &["domain", "outbound", "pages", "reader"]),
    ("store", &["characters", "credits", "domain", "moment", "money"]),
    ("store-postgres", &["background", "credits", "domain", "moment", "money", "store"]),
    ("limits-redis", &["domain", "moment"]),
    ("ledger", &["credits", "domain", "moment", "money", "store"]),
    (
        "payments",
        &[
            "access",
            "credits",
            "ledger",
            "logging",
            "moment",
            "money",
            "outbound",
            "single-flight",
            "store",
            "wallet",
        ],
    ),
    ("access", &["credits", "domain", "ledger", "moment", "money", "store", "wallet"]),
    ("composer", &["media"]),
    ("media-store", &["moment"]),
    (
        "jobs",
        &[
            "background",
            "credits",
            "domain",
            "engine",
            "ledger",
            "media-store",
            "moment",
            "money",
            "store",
        ],
    ),
    ("config", &["domain", "moment", "money"]),
    (
        "control",
        &[
            "access",
            "characters",
            "credits",
            "domain",
            "ledger",
            "moment",
            "money",
            "store",
            "wallet",
        ],
    ),
    (
        "api",
        &[
            "access",
            "characters",
            "credits",
            "documents",
            "domain",
            "engine",
            "jobs",
            "lanes",
            "ledger",
            "logging",
            "moment",
            "money",
            "rpc",
            "payments",
            "reader",
            "pictures",
            "schema-check",
            "single-flight",
            "sound",
            "store",
            "wallet",
            "web",
            "wire",
        ],
    ),
    ("supervisor", &["engine", "outbound", "weights"]),
    (
        "switchboard",
        &[
            "api",
            "composer",
            "config",
            "domain",
            "engine",
            "engine-upstream",
            "media",
            "moment",
            "weights",
        ],
    ),
    // The engines share nothing with the gateway: they are a separate process.
    ("engine-local", &["engine-onnx", "engine-text", "media", "moment", "video", "weights"]),
    ("fuzz-seeds", &[]),
    ("testkit", ANYTHING),
    ("it", ANYTHING),
    ("bench", ANYTHING),
    ("cli", ANYTHING),
    ("tollgate", &["cli", "engine-local"]),
    ("xtask", &[]),
];

/// For crates that wire or test the others.
const ANYTHING: &[&str] = &["*"];
/// The only crates that may depend on the test support.
const MAY_USE_TESTKIT: [&str; 2] = ["it", "bench"];

pub(crate) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let metadata = command::output(root, "cargo", &arguments)?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("`cargo metadata` printed something else than JSON: {error}"))?;
    Ok(check(&metadata))
}

pub(crate) fn check(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours: Vec<&str> = packages.iter().filter_map(|it| it["name"].as_str()).collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            problems.push(format!("{name}: give the crate a line in xtask's table of layers"));
            continue;
        };
        for used in normal_dependencies(package).filter(|it| ours.contains(it)) {
            if !is_allowed(name, allowed, used) {
                problems.push(format!("{name}: must not depend on {used}"));
            }
        }
    }
    problems
}

fn is_allowed(name: &str, allowed: &[&str], used: &str) -> bool {
    if used == "testkit" {
        return MAY_USE_TESTKIT.contains(&name);
    }
    allowed == ANYTHING || allowed.contains(&used)
}

/// Dependencies without those of tests only, which do not affect the product.
fn normal_dependencies(package: &Value) -> impl Iterator<Item = &str> {
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies.iter().filter(|it| it["kind"] != "dev").filter_map(|it| it["name"].as_str())
}
