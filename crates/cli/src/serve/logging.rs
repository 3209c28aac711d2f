//! The log format: text on a terminal and JSON otherwise, unless configured.

use std::io::{self, IsTerminal};

use ::logging::{LastLines, Style};
use config::sections::log::{Format, Log};

use crate::failure::Failure;

/// Starts the log. The returned guard must be kept until nothing more is logged.
pub(crate) fn start(log: &Log) -> Result<LastLines, Failure> {
    let style = if is_json(log) { Style::Json } else { for_people(log) };
    ::logging::start(&log.level, style).map_err(|error| Failure::Failed(error.to_string()))
}

/// True if the log is text on a terminal, where a progress bar can be drawn.
pub(crate) fn is_watched(log: &Log) -> bool {
    io::stderr().is_terminal() && !is_json(log)
}

fn for_people(log: &Log) -> Style {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style::Human { has_colours: io::stderr().is_terminal() && !is_plain, wipes: is_watched(log) }
}

fn is_json(log: &Log) -> bool {
    match log.format {
        Format::Json => true,
        Format::Human => false,
        Format::Auto => !io::stderr().is_terminal(),
    }
}
