//! The shared strings of a workbook, which cells refer to by index.

use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupEvent, MarkupParser};

/// Twice the text limit of one request; a larger table could not be shown.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Stored in one buffer: there may be millions, and most are short.
#[derive(Default)]
pub(crate) struct SharedStrings {
    text: String,
    ends: Vec<usize>,
}

impl SharedStrings {
    pub(crate) fn read_strings(
        mut markup: MarkupParser<'_>,
    ) -> Result<SharedStrings, DocumentReadError> {
        let mut strings = SharedStrings::default();
        while let Some(mark) = markup.next()? {
            match mark {
                MarkupEvent::Open(element) => match element.name() {
                    "t" => markup.read_text(&mut strings.text)?,
                    // Phonetic hints above words.
                    "rPh" => markup.skip_element()?,
                    _ => {}
                },
                MarkupEvent::Close(name) if name == "si" => strings.push("")?,
                MarkupEvent::Close(_) | MarkupEvent::Text(_) => {}
            }
        }
        Ok(strings)
    }

    /// Ends a string with its last fragment.
    pub(crate) fn push(&mut self, last: &str) -> Result<(), DocumentReadError> {
        self.text.push_str(last);
        self.ends.push(self.text.len());
        if BYTES_MAX < self.text.len() { Err(fault::TEXT_TOO_LONG) } else { Ok(()) }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.text.get(start.unwrap_or(0)..end)
    }
}
