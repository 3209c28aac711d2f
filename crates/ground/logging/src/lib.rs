//! The log: human-readable or JSON lines, always on standard error.
//!
//! A separate package because every request writes a line: the `quick` profile optimizes this
//! package, but not the rest of the command line.

mod human;
mod json;
mod line_buffer;
pub mod request;

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use self::human::HumanLines;
use self::json::JsonLines;
pub use self::line_buffer::LogFlushGuard;
use self::line_buffer::{LineBuffer, LineBufferWriter};

/// Moves to the start of the terminal's line and clears it.
pub const WIPE: &str = "\r\x1b[K";

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStyle {
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
pub enum LogStartError {
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
pub fn start_log(level: &str, style: LogStyle) -> Result<LogFlushGuard, LogStartError> {
    let lines = fmt().with_env_filter(EnvFilter::builder().parse(level)?);
    match style {
        LogStyle::Json => {
            let gathered = LineBuffer::new(Box::new(io::stderr()));
            let last = LogFlushGuard::for_buffer(&gathered)?;
            let lines = lines.with_writer(LineBufferWriter(gathered)).event_format(JsonLines);
            lines.finish().try_init()?;
            Ok(last)
        }
        LogStyle::Human { has_colours, wipes } => {
            let lines = lines.with_writer(move || TerminalLine { wipes }).with_ansi(has_colours);
            lines.event_format(HumanLines::new(has_colours)).finish().try_init()?;
            Ok(LogFlushGuard::none())
        }
    }
}

/// A log line that first clears a progress bar, if `wipes` is set.
struct TerminalLine {
    wipes: bool,
}

impl Write for TerminalLine {
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
