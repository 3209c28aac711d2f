//! The texts of a workbook, which its cells refer to by number.

use crate::fault::{self, Unreadable};
use crate::markup::{Mark, Markup};

/// As much as the text of a request may have: what no cell shows is not worth keeping.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Kept in one piece: there may be millions, and most are short.
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
                    // How a word is pronounced, which is written above it.
                    "rPh" => markup.skip()?,
                    _ => {}
                },
                Mark::Close(name) if name == "si" => strings.push("")?,
                Mark::Close(_) | Mark::Text(_) => {}
            }
        }
        Ok(strings)
    }

    /// Ends a text with its last piece.
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
