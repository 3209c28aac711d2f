//! The log: lines for people on a terminal, JSON otherwise, always on standard error.

mod gathered;
mod human;
mod json;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use config::sections::log::{Format, Log};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::util::SubscriberInitExt;

use self::gathered::{Gathered, LastLines, ToGathered};
use self::human::HumanLines;
use self::json::JsonLines;
use crate::bar::WIPE;
use crate::failure::Failure;

/// Begins the log. What this gives must be kept until nothing more is logged.
pub(crate) fn start(log: &Log) -> Result<LastLines, Failure> {
    let filter = EnvFilter::builder().parse(&log.level).map_err(|error| {
        Failure::Failed(format!(
            "`level` in [log] must be error, warn, info, debug or trace, or directives such as \
             \"info,api=debug\": {error}"
        ))
    })?;
    let lines = fmt().with_env_filter(filter);
    let cannot_start = |error: &dyn Display| format!("cannot start the log: {error}");
    if is_json(log) {
        let gathered = Gathered::new(Box::new(io::stderr()));
        let last =
            LastLines::of(&gathered).map_err(|error| Failure::Failed(cannot_start(&error)))?;
        let lines = lines.with_writer(ToGathered(gathered)).event_format(JsonLines).finish();
        lines.try_init().map_err(|error| Failure::Failed(cannot_start(&error)))?;
        return Ok(last);
    }
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (is_terminal, wipes) = (io::stderr().is_terminal(), is_watched(log));
    let has_colours = is_terminal && !is_plain;
    let lines = lines.with_writer(move || Line { wipes }).with_ansi(has_colours);
    let lines = lines.event_format(HumanLines::new(has_colours));
    lines.finish().try_init().map_err(|error| Failure::Failed(cannot_start(&error)))?;
    Ok(LastLines::none())
}

/// Whether somebody reads the log on a terminal, where a bar may be drawn too.
pub(crate) fn is_watched(log: &Log) -> bool {
    io::stderr().is_terminal() && !is_json(log)
}

fn is_json(log: &Log) -> bool {
    match log.format {
        Format::Json => true,
        Format::Human => false,
        Format::Auto => !io::stderr().is_terminal(),
    }
}

/// A line of the log, in the place of a bar if one is drawn there. It may be another process's.
struct Line {
    wipes: bool,
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut output = io::stderr().lock();
        if self.wipes {
            output.write_all(WIPE.as_bytes())?;
        }
        output.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
