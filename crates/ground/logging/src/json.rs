//! JSON lines, written directly from the fields of an event.
//!
//! Every request writes one. The subscriber's own writer uses a general serializer and a chain of
//! adaptors, which took 5 % of the instructions of a chat request.

use std::fmt::{self, Write};

use moment::{Clock, SystemClock};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::request;

/// The field with the request id.
pub(crate) const REQUEST_ID: &str = "http.request_id";

pub(crate) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        let mut line = JsonLine { text: String::with_capacity(512), names_request: false };
        line.text.push_str(r#"{"timestamp":""#);
        let _ = write!(line.text, "{}", SystemClock.now());
        line.text.push_str(r#"","level":""#);
        line.text.push_str(metadata.level().as_str());
        line.text.push('"');
        event.record(&mut line);
        if !line.names_request {
            request::with_current(|id| {
                line.write_name(REQUEST_ID);
                line.write_text(id);
            });
        }
        line.write_name("target");
        line.write_text(metadata.target());
        line.text.push_str("}\n");
        writer.write_str(&line.text)
    }
}

/// A line in progress, with the opening brace written.
struct JsonLine {
    text: String,
    /// Set if the event has a request id of its own.
    names_request: bool,
}

impl JsonLine {
    /// Writes a field name. Names are literals in the program without characters to escape.
    fn write_name(&mut self, name: &'static str) {
        self.names_request |= name == REQUEST_ID;
        self.text.push_str(",\"");
        self.text.push_str(name);
        self.text.push_str("\":");
    }

    fn write_text(&mut self, text: &str) {
        self.text.push('"');
        let _ = JsonEscaper(&mut self.text).write_str(text);
        self.text.push('"');
    }

    fn write_formatted(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        self.write_name(field.name());
        self.text.push('"');
        let _ = JsonEscaper(&mut self.text).write_fmt(value);
        self.text.push('"');
    }

    fn write_plain(&mut self, field: &Field, value: impl fmt::Display) {
        self.write_name(field.name());
        let _ = write!(self.text, "{value}");
    }
}

impl Visit for JsonLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write_formatted(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.write_name(field.name());
        self.write_text(value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write_plain(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write_plain(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write_plain(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no NaN or infinity.
        if value.is_finite() {
            self.write_plain(field, value)
        } else {
            self.write_plain(field, "null")
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.write_formatted(field, format_args!("{value}"));
    }
}

/// Writes the escaped content of a JSON string.
struct JsonEscaper<'a>(&'a mut String);

impl fmt::Write for JsonEscaper<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Most texts need no escaping. This check has no branch per byte, so that the compiler
        // vectorizes it.
        if !text.bytes().fold(false, |any, byte| any | must_escape(byte)) {
            self.0.push_str(text);
            return Ok(());
        }
        let mut rest = text;
        // The characters to escape are single bytes, which never occur inside a multi-byte
        // character.
        while let Some(position) = rest.bytes().position(must_escape) {
            let (plain, from) = rest.split_at(position);
            self.0.push_str(plain);
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                self.escape(character)?;
            }
            rest = characters.as_str();
        }
        self.0.push_str(rest);
        Ok(())
    }
}

impl JsonEscaper<'_> {
    fn escape(&mut self, character: char) -> fmt::Result {
        match character {
            '"' => self.0.push_str("\\\""),
            '\\' => self.0.push_str("\\\\"),
            '\n' => self.0.push_str("\\n"),
            '\r' => self.0.push_str("\\r"),
            '\t' => self.0.push_str("\\t"),
            other => write!(self.0, "\\u{:04x}", u32::from(other))?,
        }
        Ok(())
    }
}

fn must_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;

    #[derive(Clone, Default)]
    struct WrittenBytes(Arc<Mutex<Vec<u8>>>);

    impl io::Write for WrittenBytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that are logged while `work` runs.
    fn lines(work: impl FnOnce()) -> Vec<Value> {
        let kept = WrittenBytes::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .event_format(JsonLines)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let bytes = kept.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_has_the_time_the_level_the_fields_and_the_target() {
        let lines = lines(|| tracing::warn!(http.status = 200, is_new = true, "done {}", 7));
        let mut line = lines[0].clone();
        let time = line["timestamp"].take();
        assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        let target = module_path!();
        assert_eq!(
            line,
            json!({
                "timestamp": null, "level": "WARN", "message": "done 7", "http.status": 200,
                "is_new": true, "target": target,
            })
        );
    }

    #[test]
    fn whatever_stands_in_a_field_the_line_stays_one_line_of_json() {
        let odd = "a \"quote\", a \\, a\nline,\r\ta bell \u{7}, \u{0} and ünïcode \u{2028} 🦀";
        let written = lines(|| {
            tracing::info!(text = odd, debug = ?odd, shown = %odd, number = f64::NAN, "{odd}");
        });
        assert_eq!(written.len(), 1);
        assert_eq!(written[0]["text"], odd);
        assert_eq!(written[0]["shown"], odd);
        assert_eq!(written[0]["message"], odd);
        assert_eq!(written[0]["debug"], format!("{odd:?}"));
        assert_eq!(written[0]["number"], Value::Null);
    }
}
