//! Renders the key tables as text: the commented file of `tollgate init` and the reference.

use std::fmt::Write;

use crate::environment::build_variable_name;
use crate::key::{AbsentKeyRule, ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::sections;

/// The maximum width of a comment line in the file, in characters.
const COMMENT_CHARS_MAX: usize = 96;

/// Returns a `tollgate.toml` with every key at its default and commented out, so that the
/// uncommented lines are the operator's changes.
pub fn render_template() -> String {
    let mut text = String::from(
        "# Tollgate's configuration. Every key is shown at its default; uncomment what you change.\n\
         # Any key of a section can also be set as TOLLGATE__SECTION__KEY in the environment.\n\
         # `tollgate config check` says what is wrong with this file, and where.\n",
    );
    for section in sections::list_sections() {
        text.push('\n');
        template_section(&mut text, section);
    }
    text
}

fn template_section(text: &mut String, section: &ConfigSection) {
    if !section.name.is_empty() {
        write_comment(text, section.doc);
    }
    let is_pattern = section.name.contains('<');
    match section.form {
        SectionForm::One if section.name.is_empty() => {}
        SectionForm::One if is_pattern => {
            let _ = writeln!(text, "#[{}]", section.name.replace("<network>", "ethereum-mainnet"));
        }
        SectionForm::One => {
            let _ = writeln!(text, "[{}]", section.name);
        }
        SectionForm::Many => {
            let _ = writeln!(text, "#[[{}]]", section.name);
        }
        SectionForm::Inner => {
            let _ = writeln!(text, "# {}:", section.name);
        }
    }
    for key in section.keys {
        // Inner tables are rendered as sections of their own.
        if matches!(key.kind, ValueKind::Table | ValueKind::Tables | ValueKind::NamedTables) {
            continue;
        }
        write_comment(text, key.doc);
        let _ = writeln!(text, "#{} = {}", key.name, render_example(key));
    }
}

fn write_comment(text: &mut String, sentence: &str) {
    let mut line = String::from("#");
    for word in sentence.split_whitespace() {
        if COMMENT_CHARS_MAX < line.chars().count() + 1 + word.chars().count() {
            let _ = writeln!(text, "{line}");
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

/// Returns the key's default, or an example value of its kind.
fn render_example(key: &ConfigKey) -> String {
    if let AbsentKeyRule::Default(literal) = key.otherwise {
        return literal.to_owned();
    }
    match key.kind {
        ValueKind::Flag => "true".to_owned(),
        ValueKind::Integer { least, .. } | ValueKind::Seconds { least, .. } => least.to_string(),
        ValueKind::Number { least, .. } => format!("{least:?}"),
        ValueKind::Url(starts) => format!("\"{}example\"", starts.first().unwrap_or(&"")),
        ValueKind::SecretUrl(_) => "\"env:NAME\"".to_owned(),
        ValueKind::SecretUrls(_) => "[\"env:NAME\"]".to_owned(),
        ValueKind::Urls(starts) => format!("[\"{}example\"]", starts.first().unwrap_or(&"")),
        ValueKind::Secret => "\"env:NAME\"".to_owned(),
        ValueKind::Decimal => "\"0.00\"".to_owned(),
        ValueKind::Date => "\"2030-01-01\"".to_owned(),
        ValueKind::Choice(options) => format!("\"{}\"", options.first().unwrap_or(&"")),
        ValueKind::Texts | ValueKind::Integers { .. } | ValueKind::Choices(_) => "[]".to_owned(),
        ValueKind::TextMap | ValueKind::SecretMap | ValueKind::Table | ValueKind::NamedTables => {
            "{}".to_owned()
        }
        ValueKind::Tables => "[]".to_owned(),
        ValueKind::Text | ValueKind::Address | ValueKind::Path => "\"…\"".to_owned(),
    }
}

/// Returns the reference of all keys in Markdown.
pub fn render_reference() -> String {
    let mut text = String::from(
        "# Configuration\n\n\
         Tollgate reads `tollgate.toml` from the working directory, or the file of `--config` or\n\
         `TOLLGATE_CONFIG`. Without a file it runs on the defaults below. A value is taken from the\n\
         first of these that gives it: a flag, the environment, the file, the default.\n\
         `tollgate config show --origin` tells which one it was, `tollgate config check` reports\n\
         every mistake with its line, and `tollgate init` writes a commented file.\n\n\
         Secrets are best given by reference: `env:NAME` reads a variable, `file:path` a file\n\
         (relative to `tollgate.toml`). In the environment, lists are written with commas.\n\n\
         This page is printed by `tollgate config reference`.\n",
    );
    for section in sections::list_sections() {
        reference_section(&mut text, section);
    }
    text
}

fn reference_section(text: &mut String, section: &ConfigSection) {
    let title = match section.form {
        SectionForm::One if section.name.is_empty() => "Top of the file".to_owned(),
        SectionForm::One => format!("`[{}]`", section.name),
        SectionForm::Many => format!("`[[{}]]`", section.name),
        SectionForm::Inner => format!("`{}`", section.name),
    };
    let _ = write!(text, "\n## {title}\n\n{}\n", section.doc);
    if section.form == SectionForm::One && !section.name.contains('<') {
        let pattern = build_variable_name(section.name, "<key>").replace("<KEY>", "KEY");
        let _ = writeln!(text, "In the environment: `{pattern}`.");
    }
    text.push_str("\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
    for key in section.keys {
        let default = match key.otherwise {
            AbsentKeyRule::Required => "required".to_owned(),
            AbsentKeyRule::Absent => "none".to_owned(),
            AbsentKeyRule::Default(literal) => format!("`{literal}`"),
        };
        let kind = key.kind.describe();
        let _ = writeln!(text, "| `{}` | {kind} | {default} | {} |", key.name, key.doc);
    }
}
