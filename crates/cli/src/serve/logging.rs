//! The log: lines for people on a terminal, JSON otherwise, always on standard error.

use std::io::IsTerminal;

use config::sections::log::{Format, Log};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::Failure;

pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::builder().parse(&log.level).map_err(|error| {
        Failure::Failed(format!(
            "`level` in [log] must be error, warn, info, debug or trace, or directives such as \
             \"info,api=debug\": {error}"
        ))
    })?;
    let is_terminal = std::io::stderr().is_terminal();
    let is_json = match log.format {
        Format::Json => true,
        Format::Human => false,
        Format::Auto => !is_terminal,
    };
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = if is_json {
        lines.json().flatten_event(true).with_current_span(false).finish().try_init()
    } else {
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        lines.with_ansi(is_terminal && !is_plain).finish().try_init()
    };
    started.map_err(|error| Failure::Failed(format!("cannot start the log: {error}")))
}
