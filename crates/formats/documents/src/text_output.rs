//! The extracted text: lines, and rows of cells separated by tabs.

use crate::fault::{self, DocumentReadError};

pub(crate) struct TextOutput<'a> {
    text: String,
    bytes_left: &'a mut usize,
    /// Depth of open cells and notes, whose text must stay on one line.
    held: usize,
    /// Empty cells not yet written: those at the end of a row get no tab.
    gaps: usize,
    has_cell: bool,
}

impl<'a> TextOutput<'a> {
    pub(crate) fn new(bytes_left: &'a mut usize) -> TextOutput<'a> {
        TextOutput { text: String::new(), bytes_left, held: 0, gaps: 0, has_cell: false }
    }

    /// Remaining bytes of the text limit.
    pub(crate) fn bytes_left(&self) -> usize {
        *self.bytes_left
    }

    /// Appends text with its own line breaks.
    pub(crate) fn write_block(&mut self, text: &str) -> Result<(), DocumentReadError> {
        self.push(text)
    }

    /// Appends text within a line. In a cell, line breaks and tabs become spaces, because they
    /// would look like the table's own.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), DocumentReadError> {
        if text.is_empty() {
            return Ok(());
        }
        self.fill_gaps()?;
        if 0 < self.held && text.contains(['\n', '\t']) {
            return self.push(&text.replace(['\n', '\t'], " "));
        }
        self.push(text)
    }

    /// Appends text with collapsed whitespace, as in HTML.
    pub(crate) fn write_words(&mut self, text: &str) -> Result<(), DocumentReadError> {
        let is_space = |character: char| character.is_ascii_whitespace();
        if text.starts_with(is_space) {
            self.push_space()?;
        }
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            self.write(word)?;
            if words.peek().is_some() || text.ends_with(is_space) {
                self.push_space()?;
            }
        }
        Ok(())
    }

    /// Ends the line unless it is empty.
    pub(crate) fn end_line(&mut self) -> Result<(), DocumentReadError> {
        if 0 < self.held {
            return self.push_space();
        }
        self.trim_spaces();
        if self.text.is_empty() || self.text.ends_with('\n') {
            return Ok(());
        }
        self.push("\n")
    }

    /// Starts another sheet, slide or chapter.
    pub(crate) fn end_part(&mut self) -> Result<(), DocumentReadError> {
        (self.held, self.gaps, self.has_cell) = (0, 0, false);
        self.end_line()?;
        if self.text.is_empty() || self.text.ends_with("\n\n") {
            return Ok(());
        }
        self.push("\n")
    }

    /// From here on, ends of lines become spaces.
    pub(crate) fn hold_line(&mut self) {
        self.held += 1;
    }

    pub(crate) fn release_line(&mut self) {
        self.held = self.held.saturating_sub(1);
        self.trim_spaces();
    }

    pub(crate) fn open_cell(&mut self) {
        self.skip_cells(1);
        self.hold_line();
    }

    /// Skips empty cells.
    pub(crate) fn skip_cells(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let tabs = if self.has_cell { count } else { count - 1 };
        self.gaps = self.gaps.saturating_add(tabs);
        self.has_cell = true;
    }

    pub(crate) fn close_cell(&mut self) {
        self.release_line();
    }

    pub(crate) fn close_row(&mut self) -> Result<(), DocumentReadError> {
        if self.held == 0 {
            (self.gaps, self.has_cell) = (0, false);
        }
        self.end_line()
    }

    /// The current length of the text.
    pub(crate) fn position(&self) -> usize {
        self.text.len()
    }

    /// The text since a position.
    pub(crate) fn since(&self, position: usize) -> &str {
        self.text.get(position..).unwrap_or_default()
    }

    /// Returns the text; an error if there is none.
    pub(crate) fn finish(mut self) -> Result<String, DocumentReadError> {
        self.text.truncate(self.text.trim_end().len());
        if self.text.trim_start().is_empty() { Err(fault::NO_TEXT) } else { Ok(self.text) }
    }

    fn fill_gaps(&mut self) -> Result<(), DocumentReadError> {
        if 0 < self.gaps {
            self.trim_spaces();
        }
        for _ in 0..std::mem::take(&mut self.gaps) {
            self.push("\t")?;
        }
        Ok(())
    }

    /// Appends a single space, except at the start of a line or cell.
    fn push_space(&mut self) -> Result<(), DocumentReadError> {
        if 0 < self.gaps || self.text.is_empty() || self.text.ends_with([' ', '\n', '\t']) {
            return Ok(());
        }
        self.push(" ")
    }

    fn trim_spaces(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
    }

    fn push(&mut self, text: &str) -> Result<(), DocumentReadError> {
        let left = self.bytes_left.checked_sub(text.len()).ok_or(fault::TEXT_TOO_LONG)?;
        *self.bytes_left = left;
        self.text.push_str(text);
        Ok(())
    }
}
