//! Server-sent events out of a byte stream that may be cut anywhere.

use std::collections::VecDeque;
use std::mem;

/// A picture in base64 fits into one event; a line that never ends does not fill the memory.
pub(crate) const EVENT_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) data: String,
}

/// What makes a byte stream unreadable. Whoever sees one stops reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseFault {
    #[error("an event is longer than {EVENT_BYTES_MAX} bytes")]
    TooLong,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Collects lines into events. Only `data` matters to us: both protocols repeat the event's name
/// inside it, and nobody resumes a paid answer by `id`.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended in a carriage return, so a newline that follows belongs to it.
    after_return: bool,
    is_past_first_line: bool,
}

impl SseParser {
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut VecDeque<SseEvent>,
    ) -> Result<(), SseFault> {
        while !bytes.is_empty() {
            if mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.keep(bytes);
            };
            self.after_return = bytes[end] == b'\r';
            if self.partial.is_empty() {
                self.line(&bytes[..end], events)?;
            } else {
                self.keep(&bytes[..end])?;
                let line = mem::take(&mut self.partial);
                self.line(&line, events)?;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// Gives out an event that the end of the stream left without its empty line.
    pub(crate) fn finish(&mut self, events: &mut VecDeque<SseEvent>) -> Result<(), SseFault> {
        let line = mem::take(&mut self.partial);
        self.line(&line, events)?;
        self.dispatch(events)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), SseFault> {
        if EVENT_BYTES_MAX < self.partial.len() + self.data.len() + bytes.len() {
            return Err(SseFault::TooLong);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn line(&mut self, line: &[u8], events: &mut VecDeque<SseEvent>) -> Result<(), SseFault> {
        let is_first = !mem::replace(&mut self.is_past_first_line, true);
        let line = if is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(events);
        }
        let Some(value) = data_value(line) else { return Ok(()) };
        if EVENT_BYTES_MAX < self.data.len() + value.len() {
            return Err(SseFault::TooLong);
        }
        if mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, events: &mut VecDeque<SseEvent>) -> Result<(), SseFault> {
        if mem::take(&mut self.has_data) {
            let data = String::from_utf8(mem::take(&mut self.data));
            events.push_back(SseEvent { data: data.map_err(|_| SseFault::NotUtf8)? });
        }
        Ok(())
    }
}

/// The value of a `data` line; nothing for comments and other fields.
fn data_value(line: &[u8]) -> Option<&[u8]> {
    let after_name = line.strip_prefix(b"data")?;
    if after_name.is_empty() {
        return Some(after_name);
    }
    let value = after_name.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests;
