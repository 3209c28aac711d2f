//! The shared strings of a workbook, which cells refer to by index.

use crate::fault::{self, Unreadable};
use crate::markup::{Mark, Markup};

/// Twice the text limit of one request; a larger table could not be shown.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Stored in one buffer: there may be millions, and most are short.
#[derive(Default)]
pub(crate) struct SharedStrings {
    text: String,
    ends: Vec<usize>,
}

impl SharedStrings {
    pub(crate) fn of(mut markup: Markup<'_>) -> Result<SharedStrings, Unreadable> {
        let mut strings = SharedStrings::default();
        while let Some(mark) = markup.next()? {
            match mark {
                Mark::Open(element) => match element.name() {
                    "t" => markup.text(&mut strings.text)?,
                    // Phonetic hints above words.
                    "rPh" => markup.skip()?,
                    _ => {}
                },
                Mark::Close(name) if name == "si" => strings.push("")?,
                Mark::Close(_) | Mark::Text(_) => {}
            }
        }
        Ok(strings)
    }

    /// Ends a string with its last fragment.
    pub(crate) fn push(&mut self, last: &str) -> Result<(), Unreadable> {
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
