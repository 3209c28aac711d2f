//! Renders the key tables as text: the commented file of `tollgate init` and the reference.

use std::fmt::Write;

use crate::environment::variable;
use crate::key::{Form, Key, Kind, Otherwise, Section};
use crate::sections;

/// The maximum width of a comment line in the file, in characters.
const COMMENT_CHARS_MAX: usize = 96;

/// Returns a `tollgate.toml` with every key at its default and commented out, so that the
/// uncommented lines are the operator's changes.
pub fn template() -> String {
    let mut text = String::from(
        "# Tollgate's configuration. Every key is shown at its default; uncomment what you change.\n\
         # Any key of a section can also be set as TOLLGATE__SECTION__KEY in the environment.\n\
         # `tollgate config check` says what is wrong with this file, and where.\n",
    );
    for section in sections::all() {
        text.push('\n');
        template_section(&mut text, section);
    }
    text
}

fn template_section(text: &mut String, section: &Section) {
    if !section.name.is_empty() {
        comment(text, section.doc);
    }
    let is_pattern = section.name.contains('<');
    match section.form {
        Form::One if section.name.is_empty() => {}
        Form::One if is_pattern => {
            let _ = writeln!(text, "#[{}]", section.name.replace("<network>", "ethereum-mainnet"));
        }
        Form::One => {
            let _ = writeln!(text, "[{}]", section.name);
        }
        Form::Many => {
            let _ = writeln!(text, "#[[{}]]", section.name);
        }
        Form::Inner => {
            let _ = writeln!(text, "# {}:", section.name);
        }
    }
    for key in section.keys {
        // Inner tables are rendered as sections of their own.
        if matches!(key.kind, Kind::Table | Kind::Tables | Kind::NamedTables) {
            continue;
        }
        comment(text, key.doc);
        let _ = writeln!(text, "#{} = {}", key.name, example(key));
    }
}

fn comment(text: &mut String, sentence: &str) {
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
fn example(key: &Key) -> String {
    if let Otherwise::Default(literal) = key.otherwise {
        return literal.to_owned();
    }
    match key.kind {
        Kind::Flag => "true".to_owned(),
        Kind::Integer { least, .. } | Kind::Seconds { least, .. } => least.to_string(),
        Kind::Number { least, .. } => format!("{least:?}"),
        Kind::Url(starts) => format!("\"{}example\"", starts.first().unwrap_or(&"")),
        Kind::SecretUrl(_) => "\"env:NAME\"".to_owned(),
        Kind::SecretUrls(_) => "[\"env:NAME\"]".to_owned(),
        Kind::Urls(starts) => format!("[\"{}example\"]", starts.first().unwrap_or(&"")),
        Kind::Secret => "\"env:NAME\"".to_owned(),
        Kind::Decimal => "\"0.00\"".to_owned(),
        Kind::Date => "\"2030-01-01\"".to_owned(),
        Kind::Choice(options) => format!("\"{}\"", options.first().unwrap_or(&"")),
        Kind::Texts | Kind::Integers { .. } | Kind::Choices(_) => "[]".to_owned(),
        Kind::TextMap | Kind::SecretMap | Kind::Table | Kind::NamedTables => "{}".to_owned(),
        Kind::Tables => "[]".to_owned(),
        Kind::Text | Kind::Address | Kind::Path => "\"…\"".to_owned(),
    }
}

/// Returns the reference of all keys in Markdown.
pub fn reference() -> String {
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
    for section in sections::all() {
        reference_section(&mut text, section);
    }
    text
}

fn reference_section(text: &mut String, section: &Section) {
    let title = match section.form {
        Form::One if section.name.is_empty() => "Top of the file".to_owned(),
        Form::One => format!("`[{}]`", section.name),
        Form::Many => format!("`[[{}]]`", section.name),
        Form::Inner => format!("`{}`", section.name),
    };
    let _ = write!(text, "\n## {title}\n\n{}\n", section.doc);
    if section.form == Form::One && !section.name.contains('<') {
        let pattern = variable(section.name, "<key>").replace("<KEY>", "KEY");
        let _ = writeln!(text, "In the environment: `{pattern}`.");
    }
    text.push_str("\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
    for key in section.keys {
        let default = match key.otherwise {
            Otherwise::Required => "required".to_owned(),
            Otherwise::Absent => "none".to_owned(),
            Otherwise::Default(literal) => format!("`{literal}`"),
        };
        let kind = key.kind.described();
        let _ = writeln!(text, "| `{}` | {kind} | {default} | {} |", key.name, key.doc);
    }
}
