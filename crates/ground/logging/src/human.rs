//! Human-readable lines: the subscriber's format with the request id.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::json::REQUEST_ID;
use crate::request;

pub(crate) struct HumanLines(Format);

impl HumanLines {
    pub(crate) fn new(has_colours: bool) -> HumanLines {
        HumanLines(Format::default().with_ansi(has_colours))
    }
}

impl<S, N> FormatEvent<S, N> for HumanLines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        let names_request = event.fields().any(|field| field.name() == REQUEST_ID);
        writer.write_str(line.trim_end())?;
        if !names_request {
            let mut told = Ok(());
            request::with_current(|id| told = write!(writer, " {REQUEST_ID}={id:?}"));
            told?;
        }
        writer.write_char('\n')
    }
}
