//! Parses server-sent events from a byte stream with arbitrary chunk boundaries.

use std::mem;

use memchr::memchr2;

/// Enough for an image in base64; limits memory if a line never ends.
pub(crate) const EVENT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Buffer capacity kept for the next event; few are longer.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// Errors that make a stream unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("an event is longer than {EVENT_BYTES_MAX} bytes")]
    TooLong,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Collects lines into events. Only `data` is used: both protocols repeat the event's name inside
/// it, and paid answers are not resumed by `id`.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// The start of an incomplete line.
    partial: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Set if the last line ended in a carriage return, to which a following newline belongs.
    after_return: bool,
    is_past_first_line: bool,
}

impl SseParser {
    /// Calls `take` with the data of each completed event, until it returns an error.
    pub(crate) fn push<E: From<SseError>>(
        &mut self,
        mut bytes: &[u8],
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                return Ok(self.buffer_partial(bytes)?);
            };
            self.after_return = bytes[end] == b'\r';
            if self.partial.is_empty() {
                self.parse_line(&bytes[..end], take)?;
            } else {
                self.buffer_partial(&bytes[..end])?;
                let line = mem::take(&mut self.partial);
                self.parse_line(&line, take)?;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// Passes on the last event if the stream ended without its empty line.
    pub(crate) fn finish<E: From<SseError>>(
        &mut self,
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = mem::take(&mut self.partial);
        self.parse_line(&line, take)?;
        self.dispatch(take)
    }

    fn buffer_partial(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if EVENT_BYTES_MAX < self.partial.len() + self.data.len() + bytes.len() {
            return Err(SseError::TooLong);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn parse_line<E: From<SseError>>(
        &mut self,
        line: &[u8],
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_first = !mem::replace(&mut self.is_past_first_line, true);
        let line = if is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(take);
        }
        let Some(value) = data_value(line) else { return Ok(()) };
        if EVENT_BYTES_MAX < self.data.len() + value.len() {
            return Err(SseError::TooLong.into());
        }
        if mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch<E: From<SseError>>(
        &mut self,
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if mem::take(&mut self.has_data) {
            take(str::from_utf8(&self.data).map_err(|_| SseError::NotUtf8)?)?;
            self.data.clear();
            self.data.shrink_to(KEPT_BYTES_MAX);
        }
        Ok(())
    }
}

/// The value of a `data` line; `None` for comments and other fields.
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
