//! `[log]`: format and level of the log.

use crate::fault::did_you_mean;
use crate::key_type::{TEXT, choice};
use crate::section_table::config_section;

config_section! {
    /// The log, on standard error.
    #[section(One, "log")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LogConfig {
        /// `human` is text, `json` is one object per line. `auto` is `human` on a terminal and
        /// `json` otherwise.
        format: LogFormat = choice(), default("auto");
        /// The log level: error, warn, info, debug or trace, or directives such as
        /// "info,api=debug".
        level: String = TEXT, default("info"), parse(check_level);
    }
}

domain::named! {
    pub enum LogFormat {
        Auto = "auto",
        Human = "human",
        Json = "json",
    }
}

/// Checks the level, because the log filter would take an unknown level for a module name.
fn check_level(written: String) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    let mut levels = written.split(',').map(|it| it.rsplit('=').next().unwrap_or_default());
    if let Some(level) = levels.find(|level| !LEVELS.contains(level)) {
        let hint = did_you_mean(level, LEVELS);
        let expected = "error, warn, info, debug, trace or off";
        return Err(format!("must be {expected}, not {level:?}{hint}"));
    }
    Ok(written)
}
