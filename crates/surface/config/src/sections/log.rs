//! `[log]`: format and level of the log.

use crate::fault::did_you_mean;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "log",
    form: SectionForm::One,
    doc: "The log, on standard error.",
    keys: &[
        ConfigKey::with_default(
            "format",
            ValueKind::Choice(&["auto", "human", "json"]),
            "\"auto\"",
            "`human` is text, `json` is one object per line. `auto` is `human` on a terminal and \
             `json` otherwise.",
        ),
        ConfigKey::with_default(
            "level",
            ValueKind::Text,
            "\"info\"",
            "The log level: error, warn, info, debug or trace, or directives such as \
             \"info,api=debug\".",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    pub format: LogFormat,
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Auto,
    Human,
    Json,
}

pub(crate) fn read_log_config(reader: &TableReader<'_>) -> Option<LogConfig> {
    let format = reader.choice("format").map(|written| match written {
        "human" => LogFormat::Human,
        "json" => LogFormat::Json,
        _ => LogFormat::Auto,
    });
    let level = reader.text("level").filter(|level| is_level(reader, level));
    Some(LogConfig { format: format?, level: level? })
}

/// Checks the level, because the log filter would take an unknown level for a module name.
fn is_level(reader: &TableReader<'_>, written: &str) -> bool {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    let level_of = |directive: &str| directive.rsplit('=').next().unwrap_or_default().to_owned();
    let wrong = written.split(',').map(level_of).find(|level| !LEVELS.contains(&level.as_str()));
    if let Some(level) = &wrong {
        let hint = did_you_mean(level, LEVELS);
        let expected = "error, warn, info, debug, trace or off";
        reader.report_fault(
            "level",
            format!("`level` in [log] must be {expected}, not {level:?}{hint}"),
        );
    }
    wrong.is_none()
}
