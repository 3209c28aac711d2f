//! Output: tables for people, JSON for programs, colours if the terminal supports them.

use std::io::{self, ErrorKind, Write};

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::failure::CommandError;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
const HEADING: Style = Style::new().bold();

/// Writes text to standard output. A closed pipe, as with `head`, is not an error.
pub(crate) fn print_text(text: &str) -> Result<(), CommandError> {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

pub(crate) fn print_line(line: &str) -> Result<(), CommandError> {
    print_text(&format!("{line}\n"))
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print_line(&text)
}

/// Prints the error of a command to standard error.
pub(crate) fn print_failure(failure: &CommandError) {
    let message = failure.to_string();
    if message.is_empty() {
        return;
    }
    // If standard error is closed, there is nowhere to report it.
    let _ = writeln!(anstream::stderr(), "{BAD}error{BAD:#}: {message}");
}

/// Prints a note to standard error, separate from the command's output.
pub(crate) fn print_note(message: &str) {
    let _ = writeln!(anstream::stderr(), "{DOUBTFUL}note{DOUBTFUL:#}: {message}");
}

/// A table whose columns are as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct TextTable {
    headings: Vec<&'static str>,
    rows: Vec<Vec<TableCell>>,
}

/// A text and its style.
#[derive(Debug)]
pub(crate) struct TableCell {
    text: String,
    style: Style,
}

impl TableCell {
    pub(crate) fn with_style(text: impl Into<String>, style: Style) -> TableCell {
        TableCell { text: text.into(), style }
    }
}

impl<T: ToString> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell { text: text.to_string(), style: Style::new() }
    }
}

impl TextTable {
    pub(crate) fn new(headings: &[&'static str]) -> TextTable {
        TextTable { headings: headings.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push_row(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn print(&self) -> Result<(), CommandError> {
        print_text(&self.to_text())
    }

    fn to_text(&self) -> String {
        let headings = self.headings.iter().map(|heading| TableCell::with_style(*heading, HEADING));
        let headings: Vec<TableCell> = headings.collect();
        let width = |column: usize| {
            let lines = std::iter::once(&headings).chain(&self.rows);
            let cells = lines.filter_map(|line| line.get(column));
            cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..headings.len()).map(width).collect();
        let lines = std::iter::once(&headings).chain(&self.rows);
        lines.map(|cells| format_row(cells, &widths)).collect()
    }
}

fn format_row(cells: &[TableCell], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let TableCell { text: content, style } = cell;
        text.push_str(&format!("{style}{content}{style:#}"));
        let is_last = index + 1 == cells.len();
        if !is_last {
            let filled = content.chars().count();
            let gap = widths.get(index).map_or(0, |width| width.saturating_sub(filled)) + 2;
            text.extend(std::iter::repeat_n(' ', gap));
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut listing = TextTable::new(&["NAME", "KIND"]);
        listing.push_row(["a".into(), "x".into()]);
        listing.push_row(["längster".into(), TableCell::with_style("y", BAD)]);
        let plain = anstream::adapter::strip_str(&listing.to_text()).to_string();
        assert_eq!(plain, "NAME      KIND\na         x\nlängster  y\n");
    }
}
