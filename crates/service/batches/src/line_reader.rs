//! Splits a stream of bytes into lines, with a bound on the length of a line.

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};

/// The mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line with something on it. Lines are numbered from one, with those that are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputLine {
    Text { number: u32, bytes: Bytes },
    TooLong { number: u32 },
}

pub(crate) struct LineReader<S> {
    source: S,
    buffer: BytesMut,
    /// Bytes of the buffer that have no line feed.
    searched: usize,
    line_bytes_max: usize,
    number: u32,
    is_at_end: bool,
}

impl<S, E> LineReader<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    pub(crate) fn new(source: S, line_bytes_max: usize) -> LineReader<S> {
        let buffer = BytesMut::new();
        LineReader { source, buffer, searched: 0, line_bytes_max, number: 0, is_at_end: false }
    }

    /// The next line that is not empty; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<InputLine>, E> {
        loop {
            let mut is_too_long = false;
            let line = loop {
                if let Some(end) = find_line_feed(&self.buffer, self.searched) {
                    let mut line = self.buffer.split_to(end + 1);
                    line.truncate(end);
                    self.searched = 0;
                    break Some(line);
                }
                self.searched = self.buffer.len();
                if self.line_bytes_max < self.buffer.len() {
                    is_too_long = true;
                    self.buffer.advance(self.searched);
                    self.searched = 0;
                }
                if self.is_at_end {
                    let rest = self.buffer.split();
                    self.searched = 0;
                    break (!rest.is_empty() || is_too_long).then_some(rest);
                }
                match self.source.next().await {
                    Some(piece) => self.buffer.extend_from_slice(&piece?),
                    None => self.is_at_end = true,
                }
            };
            let Some(line) = line else { return Ok(None) };
            self.number = self.number.saturating_add(1);
            let number = self.number;
            if is_too_long || self.line_bytes_max < line.len() {
                return Ok(Some(InputLine::TooLong { number }));
            }
            let bytes = trim_line(line.freeze(), number == 1);
            if !bytes.is_empty() {
                return Ok(Some(InputLine::Text { number, bytes }));
            }
        }
    }
}

fn find_line_feed(buffer: &[u8], from: usize) -> Option<usize> {
    buffer[from..].iter().position(|byte| *byte == b'\n').map(|place| from + place)
}

/// Removes the mark at the start of a file, and white space around the line.
fn trim_line(line: Bytes, is_first: bool) -> Bytes {
    let mut text: &[u8] = &line;
    if is_first {
        text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    }
    line.slice_ref(text.trim_ascii())
}
