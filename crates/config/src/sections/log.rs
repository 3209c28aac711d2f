//! `[log]`: format and level of the log.

use crate::fault::did_you_mean;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "log",
    form: Form::One,
    doc: "The log, on standard error.",
    keys: &[
        Key::with_default(
            "format",
            Kind::Choice(&["auto", "human", "json"]),
            "\"auto\"",
            "`human` is text, `json` is one object per line. `auto` is `human` on a terminal and \
             `json` otherwise.",
        ),
        Key::with_default(
            "level",
            Kind::Text,
            "\"info\"",
            "The log level: error, warn, info, debug or trace, or directives such as \
             \"info,api=debug\".",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: Format,
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Auto,
    Human,
    Json,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Log> {
    let format = reader.choice("format").map(|written| match written {
        "human" => Format::Human,
        "json" => Format::Json,
        _ => Format::Auto,
    });
    let level = reader.text("level").filter(|level| is_level(reader, level));
    Some(Log { format: format?, level: level? })
}

/// Checks the level, because the log filter would take an unknown level for a module name.
fn is_level(reader: &Reader<'_>, written: &str) -> bool {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    let level_of = |directive: &str| directive.rsplit('=').next().unwrap_or_default().to_owned();
    let wrong = written.split(',').map(level_of).find(|level| !LEVELS.contains(&level.as_str()));
    if let Some(level) = &wrong {
        let hint = did_you_mean(level, LEVELS);
        let expected = "error, warn, info, debug, trace or off";
        reader.fault("level", format!("`level` in [log] must be {expected}, not {level:?}{hint}"));
    }
    wrong.is_none()
}
