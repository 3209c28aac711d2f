//! OpenDocument texts, spreadsheets and presentations: one part contains all text.

use crate::archive::Archive;
use crate::fault::{self, Unreadable};
use crate::markup::{Element, Mark, Markup, MarkupKind};
use crate::page::Page;

const CONTENT: &str = "content.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Maximum of a repeat count for spaces.
const SPACES_MAX: usize = 1_024;

/// Reads a document of a kind such as `text` or `spreadsheet-template`.
pub(crate) fn read(
    archive: &mut Archive<'_>,
    kind: &str,
    page: &mut Page<'_>,
) -> Result<(), Unreadable> {
    if !["text", "spreadsheet", "presentation"].iter().any(|known| kind.starts_with(known)) {
        return Err(fault::UNKNOWN_ARCHIVE);
    }
    if archive.has(MANIFEST) {
        let mut markup = archive.markup(MANIFEST, MarkupKind::Xml)?;
        while let Some(mark) = markup.next()? {
            if matches!(mark, Mark::Open(element) if element.name() == "encryption-data") {
                return Err(fault::ENCRYPTED);
            }
        }
    }
    let names_tables = kind.starts_with("spreadsheet");
    let markup = archive.markup(CONTENT, MarkupKind::Xml)?;
    Reader { page, names_tables, lines: 0, slides: 0, rows: Vec::new(), cells: Vec::new() }
        .read(markup)
}

struct Reader<'a, 'b> {
    page: &'a mut Page<'b>,
    names_tables: bool,
    /// Depth of open paragraphs and headings. Text outside of them is only indentation.
    lines: usize,
    slides: usize,
    rows: Vec<Repeated>,
    cells: Vec<Repeated>,
}

/// An element with a repeat count, and the start of its text.
struct Repeated {
    times: usize,
    position: usize,
}

impl Reader<'_, '_> {
    fn read(mut self, mut markup: Markup<'_>) -> Result<(), Unreadable> {
        while let Some(mark) = markup.next()? {
            match mark {
                Mark::Text(text) if 0 < self.lines => self.page.write(&text)?,
                Mark::Text(_) => {}
                Mark::Open(element) => {
                    let is_left_out = matches!(
                        element.name(),
                        "tracked-changes" | "annotation" | "forms" | "desc" | "note-citation"
                    );
                    if is_left_out {
                        markup.skip()?;
                    } else {
                        self.open(&element)?;
                    }
                }
                Mark::Close(name) => self.close(&name)?,
            }
        }
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>) -> Result<(), Unreadable> {
        match element.name() {
            "p" | "h" => self.lines += 1,
            "s" if 0 < self.lines => {
                let count = count(element, "c").min(SPACES_MAX);
                self.page.write(&" ".repeat(count))?;
            }
            "tab" if 0 < self.lines => self.page.write("\t")?,
            "line-break" => self.page.write("\n")?,
            "table" if self.names_tables => {
                self.page.end_part()?;
                let name = element.prefixed("name").unwrap_or_default();
                self.page.write(&format!("Sheet: {name}"))?;
                self.page.end_line()?;
            }
            // A note is inserted in the middle of its line.
            "note" => {
                self.page.write(" [")?;
                self.page.hold_line();
            }
            "page" => {
                self.slides += 1;
                self.page.end_part()?;
                self.page.write(&format!("Slide {}", self.slides))?;
                self.page.end_line()?;
            }
            "table-row" => {
                let times = count(element, "number-rows-repeated");
                self.rows.push(Repeated { times, position: self.page.position() });
            }
            "table-cell" | "covered-table-cell" => {
                let times = count(element, "number-columns-repeated");
                self.page.open_cell();
                self.cells.push(Repeated { times, position: self.page.position() });
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), Unreadable> {
        match name {
            "p" | "h" => {
                self.lines = self.lines.saturating_sub(1);
                self.page.end_line()
            }
            "note" => {
                self.page.release_line();
                self.page.write("]")
            }
            "table-cell" | "covered-table-cell" => self.close_cell(),
            "table-row" => self.close_row(),
            _ => Ok(()),
        }
    }

    fn close_cell(&mut self) -> Result<(), Unreadable> {
        self.page.close_cell();
        let Some(Repeated { times, position }) = self.cells.pop() else { return Ok(()) };
        let text = self.page.since(position).trim_matches('\t').to_owned();
        if text.is_empty() {
            self.page.skip_cells(times - 1);
            return Ok(());
        }
        for _ in 1..times {
            self.page.open_cell();
            self.page.write(&text)?;
            self.page.close_cell();
        }
        Ok(())
    }

    fn close_row(&mut self) -> Result<(), Unreadable> {
        self.page.close_row()?;
        let Some(Repeated { times, position }) = self.rows.pop() else { return Ok(()) };
        let text = self.page.since(position).to_owned();
        if !text.is_empty() {
            for _ in 1..times {
                self.page.write_block(&text)?;
            }
        }
        Ok(())
    }
}

/// A repeat count. Default: 1.
fn count(element: &Element<'_>, name: &str) -> usize {
    element.prefixed(name).and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
}
