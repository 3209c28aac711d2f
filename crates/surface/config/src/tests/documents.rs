//! Tests that the printed documentation of keys matches the parser.

use super::ConfigFixture;
use crate::document::{render_reference, render_template};
use crate::key::{AbsentKeyRule, ValueKind};
use crate::sections;

#[test]
fn the_commented_file_changes_nothing() {
    let written = ConfigFixture::with_config(&render_template()).config();
    let unwritten = ConfigFixture::empty().config();
    assert_eq!(format!("{written:?}"), format!("{unwritten:?}"));
}

#[test]
fn every_default_in_the_commented_file_can_be_uncommented() {
    let mut section = String::new();
    let mut text = String::new();
    for line in render_template().lines() {
        if line.starts_with('[') || line.starts_with("#[") {
            section = line.to_owned();
        }
        let is_list = section.starts_with('#');
        let setting = line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '[']));
        let default = setting.filter(|setting| !is_list && has_default(&section, setting));
        text.push_str(default.unwrap_or(line));
        text.push('\n');
    }
    let written = ConfigFixture::with_config(&text).config();
    let unwritten = ConfigFixture::empty().config();
    assert!(text.contains("\nlisten = \"127.0.0.1:8080\"\n"), "{text}");
    assert_eq!(format!("{written:?}"), format!("{unwritten:?}"));
}

fn has_default(header: &str, setting: &str) -> bool {
    let name = header.trim_matches(['[', ']']);
    let section = sections::find_section(name).unwrap();
    let key = setting.split(" = ").next().unwrap();
    let key = section.keys.iter().find(|known| known.name == key).unwrap();
    matches!(key.otherwise, AbsentKeyRule::Default(_))
}

/// Regenerate with `tollgate config reference > docs/config.md`.
#[test]
fn the_reference_in_the_documentation_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/config.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, render_reference()).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == render_reference(), "docs/config.md is stale: run with UPDATE_EXPECT=1");
}

#[test]
fn durations_and_names_keep_to_the_house_rules() {
    for section in sections::list_sections() {
        for (index, key) in section.keys.iter().enumerate() {
            let is_duration = matches!(key.kind, ValueKind::Seconds { .. });
            assert_eq!(is_duration, key.name.ends_with("_s"), "{}.{}", section.name, key.name);
            assert!(key.doc.ends_with('.'), "{}.{} ends its sentence", section.name, key.name);
            let again = section.keys[..index].iter().any(|earlier| earlier.name == key.name);
            assert!(!again, "{}.{} is declared once", section.name, key.name);
        }
    }
}
