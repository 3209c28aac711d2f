//! The log: human-readable or JSON lines, always on standard error.
//!
//! A separate package because every request writes a line: the `quick` profile optimizes this
//! package, but not the rest of the command line.

mod gathered;
mod human;
mod json;
pub mod request;

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

pub use self::gathered::LastLines;
use self::gathered::{Gathered, ToGathered};
use self::human::HumanLines;
use self::json::JsonLines;

/// Moves to the start of the terminal's line and clears it.
pub const WIPE: &str = "\r\x1b[K";

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Json,
    /// Human-readable. With `wipes`, each line first clears the terminal's current line, which may
    /// show a progress bar of another process.
    Human {
        has_colours: bool,
        wipes: bool,
    },
}

/// The reason why the log cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "`level` in [log] must be error, warn, info, debug or trace, or directives such as \
         \"info,api=debug\": {0}"
    )]
    Level(#[from] ParseError),
    #[error("cannot start the log: {0}")]
    Thread(#[from] io::Error),
    #[error("cannot start the log: {0}")]
    Taken(#[from] TryInitError),
}

/// Starts the log. Keep the returned value until the last line is logged.
pub fn start(level: &str, style: Style) -> Result<LastLines, Error> {
    let lines = fmt().with_env_filter(EnvFilter::builder().parse(level)?);
    match style {
        Style::Json => {
            let gathered = Gathered::new(Box::new(io::stderr()));
            let last = LastLines::of(&gathered)?;
            let lines = lines.with_writer(ToGathered(gathered)).event_format(JsonLines);
            lines.finish().try_init()?;
            Ok(last)
        }
        Style::Human { has_colours, wipes } => {
            let lines = lines.with_writer(move || Line { wipes }).with_ansi(has_colours);
            lines.event_format(HumanLines::new(has_colours)).finish().try_init()?;
            Ok(LastLines::none())
        }
    }
}

/// A log line that first clears a progress bar, if `wipes` is set.
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
