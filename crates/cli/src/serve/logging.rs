//! What the log looks like: lines for people on a terminal, JSON otherwise, unless one is asked for.

use std::io::{self, IsTerminal};

use ::logging::{LastLines, Style};
use config::sections::log::{Format, Log};

use crate::failure::Failure;

/// Begins the log. What this gives must be kept until nothing more is logged.
pub(crate) fn start(log: &Log) -> Result<LastLines, Failure> {
    let style = if is_json(log) { Style::Json } else { for_people(log) };
    ::logging::start(&log.level, style).map_err(|error| Failure::Failed(error.to_string()))
}

/// Whether somebody reads the log on a terminal, where a bar may be drawn too.
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
