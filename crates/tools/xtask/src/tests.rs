//! Tests that each check finds its problems and nothing else.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::tree::TextFile;
use crate::{layers, links, lockfile, machine_paths, sources};

#[track_caller]
fn check(problems: &[String], expected: Expect) {
    expected.assert_eq(&problems.join("\n"));
}

fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn a_crate_uses_its_own_group_and_lower_ones() {
    let uses = |name: &str, kind: Option<&str>| json!({"name": name, "kind": kind});
    let package = |group: &str, name: &str, dependencies: Vec<Value>| {
        let manifest = format!("/tree/crates/{group}/{name}/Cargo.toml");
        json!({"name": name, "manifest_path": manifest, "dependencies": dependencies})
    };
    let in_tests = Some("dev");
    let metadata = json!({"packages": [
        package("ground", "money", vec![uses("store", None), uses("serde", None)]),
        package("store", "store", vec![uses("money", None), uses("testkit", in_tests)]),
        package("store", "store-postgres", vec![uses("store", None)]),
        package("surface", "api", vec![uses("store", None), uses("store-postgres", None)]),
        package("surface", "cli", vec![uses("store-postgres", None), uses("testkit", None)]),
        package("models", "engine-local", vec![uses("money", None)]),
        package("tools", "testkit", vec![uses("api", None)]),
        package("tools", "it", vec![uses("testkit", None)]),
        package("elsewhere", "helpers", vec![]),
    ]});
    check(
        &layers::check_metadata(&metadata),
        expect![[r#"
            money: must not depend on store
            api: must not depend on store-postgres
            cli: must not depend on testkit
            engine-local: must not depend on money
            helpers: move the crate into one of the groups in `crates`"#]],
    );
}

#[test]
fn a_source_file_opens_with_its_purpose_and_ends_in_time() {
    check(&sources::check_sources(&file("a.rs", "//! Adds.\nfn add() {}\n")), expect![""]);
    check(
        &sources::check_sources(&file("a.rs", "use a;\n")),
        expect!["a.rs:1: start the file with `//!` and what it is for"],
    );
    check(
        &sources::check_sources(&file("a.py", &"x\n".repeat(501))),
        expect!["a.py: 501 lines; split it, 500 is the most"],
    );
    check(&sources::check_sources(&file("a.json", &"x\n".repeat(501))), expect![""]);
}

#[test]
fn unfinished_work_is_found_where_it_stands() {
    let text = format!(
        "//! A.\n// {}: later\nfn a() {{ {}) }}\n",
        concat!("TO", "DO"),
        concat!("todo", "!(")
    );
    let problems = sources::check_sources(&file("a.rs", &text));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("a.rs:2: "), "{problems:?}");
}

#[test]
fn machine_paths_and_registries_are_found_except_in_the_lock_file() {
    let text = format!("cp {}me/a .\nfetch {}\n", concat!("/ho", "me/"), concat!("pypi", ".org"));
    assert_eq!(machine_paths::check_machine_paths(&file("run.sh", &text)).len(), 2);
    assert!(machine_paths::check_machine_paths(&file("Cargo.lock", &text)).is_empty());
}

#[test]
fn the_lock_file_tells_bans_and_duplicates() {
    let package = |name: &str, version: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
    };
    let lock =
        [package("a", "1.0.0"), package("a", "2.0.0"), package("native-tls", "0.2.0")].concat();
    check(
        &lockfile::find_banned(&lock, &["native-tls".to_owned()]),
        expect![
            "Cargo.lock: native-tls 0.2.0 is banned; `cargo tree -i native-tls` shows who wants it"
        ],
    );
    check(&lockfile::find_duplicates(&lock), expect!["a: 1.0.0, 2.0.0"]);
}

#[test]
fn links_are_read_from_prose_only() {
    let text = "See [a](b.md#part) and [c](https://d.e).\n```\n[no](x.md)\n```\n`[no](y.md)` [f](../g.md)\n[top](#top)\n";
    assert_eq!(links::find_targets(text), [(1, "b.md"), (5, "../g.md")]);
}

#[test]
fn a_link_that_leads_nowhere_or_outside_is_found() {
    let root = crate::tree::workspace_root();
    let text = "[here](tools/xtask/Cargo.toml)\n[nowhere](none.md)\n[outside](../../Cargo.toml)\n";
    check(
        &links::check_links(&root, &file("crates/a.md", text)),
        expect![[r#"
            crates/a.md:2: the link `none.md` leads nowhere
            crates/a.md:3: the link `../../Cargo.toml` leads nowhere"#]],
    );
}
