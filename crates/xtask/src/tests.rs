//! Tests that each check finds its problems and nothing else.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::tree::TextFile;
use crate::{hosts, layers, links, lockfile, sources};

#[track_caller]
fn check(problems: &[String], expected: Expect) {
    expected.assert_eq(&problems.join("\n"));
}

fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn a_crate_uses_only_what_its_line_in_the_table_allows() {
    let uses = |name: &str, kind: Option<&str>| json!({"name": name, "kind": kind});
    let metadata = json!({"packages": [
        {"name": "money", "dependencies": [uses("store", None), uses("serde", None)]},
        {"name": "store", "dependencies": [uses("money", None), uses("testkit", Some("dev"))]},
        {"name": "cli", "dependencies": [uses("store", None), uses("testkit", None)]},
        {"name": "testkit", "dependencies": []},
        {"name": "helpers", "dependencies": []},
    ]});
    check(
        &layers::check(&metadata),
        expect![[r#"
            money: must not depend on store
            cli: must not depend on testkit
            helpers: give the crate a line in xtask's table of layers"#]],
    );
}

#[test]
fn a_source_file_opens_with_its_purpose_and_ends_in_time() {
    check(&sources::problems(&file("a.rs", "//! Adds.\nfn add() {}\n")), expect![""]);
    check(
        &sources::problems(&file("a.rs", "use a;\n")),
        expect!["a.rs:1: start the file with `//!` and what it is for"],
    );
    check(
        &sources::problems(&file("a.py", &"x\n".repeat(501))),
        expect!["a.py: 501 lines; split it, 500 is the most"],
    );
    check(&sources::problems(&file("a.json", &"x\n".repeat(501))), expect![""]);
}

#[test]
fn unfinished_work_is_found_where_it_stands() {
    let text = format!(
        "//! A.\n// {}: later\nfn a() {{ {}) }}\n",
        concat!("TO", "DO"),
        concat!("todo", "!(")
    );
    let problems = sources::problems(&file("a.rs", &text));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("a.rs:2: "), "{problems:?}");
}

#[test]
fn machine_paths_and_registries_are_found_except_in_the_lock_file() {
    let text = format!("cp {}me/a .\nfetch {}\n", concat!("/ho", "me/"), concat!("pypi", ".org"));
    assert_eq!(hosts::problems(&file("run.sh", &text)).len(), 2);
    assert!(hosts::problems(&file("Cargo.lock", &text)).is_empty());
}

#[test]
fn the_lock_file_tells_bans_and_duplicates() {
    let package = |name: &str, version: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
    };
    let lock =
        [package("a", "1.0.0"), package("a", "2.0.0"), package("native-tls", "0.2.0")].concat();
    check(
        &lockfile::banned(&lock, &["native-tls".to_owned()]),
        expect![
            "Cargo.lock: native-tls 0.2.0 is banned; `cargo tree -i native-tls` shows who wants it"
        ],
    );
    check(&lockfile::duplicates(&lock), expect!["a: 1.0.0, 2.0.0"]);
}

#[test]
fn links_are_read_from_prose_only() {
    let text = "See [a](b.md#part) and [c](https://d.e).\n```\n[no](x.md)\n```\n`[no](y.md)` [f](../g.md)\n[top](#top)\n";
    assert_eq!(links::targets(text), [(1, "b.md"), (5, "../g.md")]);
}

#[test]
fn a_link_that_leads_nowhere_or_outside_is_found() {
    let root = crate::tree::root();
    let text = "[here](xtask/Cargo.toml)\n[nowhere](none.md)\n[outside](../../Cargo.toml)\n";
    check(
        &links::problems(&root, &file("crates/a.md", text)),
        expect![[r#"
            crates/a.md:2: the link `none.md` leads nowhere
            crates/a.md:3: the link `../../Cargo.toml` leads nowhere"#]],
    );
}
