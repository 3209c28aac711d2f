//! The log format: text on a terminal and JSON otherwise, unless configured.

use std::io::{self, IsTerminal};

use ::logging::{LogFlushGuard, LogStyle};
use config::sections::log::{LogConfig, LogFormat};

use crate::failure::CommandError;

/// Starts the log. The returned guard must be kept until nothing more is logged.
pub(crate) fn start_logging(log: &LogConfig) -> Result<LogFlushGuard, CommandError> {
    let style = if is_json(log) { LogStyle::Json } else { for_people(log) };
    ::logging::start_log(&log.level, style).map_err(|error| CommandError::Failed(error.to_string()))
}

/// True if the log is text on a terminal, where a progress bar can be drawn.
pub(crate) fn is_watched(log: &LogConfig) -> bool {
    io::stderr().is_terminal() && !is_json(log)
}

fn for_people(log: &LogConfig) -> LogStyle {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    LogStyle::Human { has_colours: io::stderr().is_terminal() && !is_plain, wipes: is_watched(log) }
}

fn is_json(log: &LogConfig) -> bool {
    match log.format {
        LogFormat::Json => true,
        LogFormat::Human => false,
        LogFormat::Auto => !io::stderr().is_terminal(),
    }
}
