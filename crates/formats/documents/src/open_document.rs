//! OpenDocument texts, spreadsheets and presentations: one part contains all text.

use crate::archive::DocumentArchive;
use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupElement, MarkupEvent, MarkupKind, MarkupParser};
use crate::text_output::TextOutput;

const CONTENT: &str = "content.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Maximum of a repeat count for spaces.
const SPACES_MAX: usize = 1_024;

/// Reads a document of a kind such as `text` or `spreadsheet-template`.
pub(crate) fn read_open_document(
    archive: &mut DocumentArchive<'_>,
    kind: &str,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    if !["text", "spreadsheet", "presentation"].iter().any(|known| kind.starts_with(known)) {
        return Err(fault::UNKNOWN_ARCHIVE);
    }
    if archive.has(MANIFEST) {
        let mut markup = archive.open_markup(MANIFEST, MarkupKind::Xml)?;
        while let Some(mark) = markup.next()? {
            if matches!(mark, MarkupEvent::Open(element) if element.name() == "encryption-data") {
                return Err(fault::ENCRYPTED);
            }
        }
    }
    let names_tables = kind.starts_with("spreadsheet");
    let markup = archive.open_markup(CONTENT, MarkupKind::Xml)?;
    OpenDocumentReader {
        page,
        names_tables,
        lines: 0,
        slides: 0,
        rows: Vec::new(),
        cells: Vec::new(),
    }
    .read(markup)
}

struct OpenDocumentReader<'a, 'b> {
    page: &'a mut TextOutput<'b>,
    names_tables: bool,
    /// Depth of open paragraphs and headings. Text outside of them is only indentation.
    lines: usize,
    slides: usize,
    rows: Vec<RepeatedElement>,
    cells: Vec<RepeatedElement>,
}

/// An element with a repeat count, and the start of its text.
struct RepeatedElement {
    times: usize,
    position: usize,
}

impl OpenDocumentReader<'_, '_> {
    fn read(mut self, mut markup: MarkupParser<'_>) -> Result<(), DocumentReadError> {
        while let Some(mark) = markup.next()? {
            match mark {
                MarkupEvent::Text(text) if 0 < self.lines => self.page.write(&text)?,
                MarkupEvent::Text(_) => {}
                MarkupEvent::Open(element) => {
                    let is_left_out = matches!(
                        element.name(),
                        "tracked-changes" | "annotation" | "forms" | "desc" | "note-citation"
                    );
                    if is_left_out {
                        markup.skip_element()?;
                    } else {
                        self.open(&element)?;
                    }
                }
                MarkupEvent::Close(name) => self.close(&name)?,
            }
        }
        Ok(())
    }

    fn open(&mut self, element: &MarkupElement<'_>) -> Result<(), DocumentReadError> {
        match element.name() {
            "p" | "h" => self.lines += 1,
            "s" if 0 < self.lines => {
                let count = parse_repeat_count(element, "c").min(SPACES_MAX);
                self.page.write(&" ".repeat(count))?;
            }
            "tab" if 0 < self.lines => self.page.write("\t")?,
            "line-break" => self.page.write("\n")?,
            "table" if self.names_tables => {
                self.page.end_part()?;
                let name = element.prefixed_attribute("name").unwrap_or_default();
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
                let times = parse_repeat_count(element, "number-rows-repeated");
                self.rows.push(RepeatedElement { times, position: self.page.position() });
            }
            "table-cell" | "covered-table-cell" => {
                let times = parse_repeat_count(element, "number-columns-repeated");
                self.page.open_cell();
                self.cells.push(RepeatedElement { times, position: self.page.position() });
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentReadError> {
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

    fn close_cell(&mut self) -> Result<(), DocumentReadError> {
        self.page.close_cell();
        let Some(RepeatedElement { times, position }) = self.cells.pop() else { return Ok(()) };
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

    fn close_row(&mut self) -> Result<(), DocumentReadError> {
        self.page.close_row()?;
        let Some(RepeatedElement { times, position }) = self.rows.pop() else { return Ok(()) };
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
fn parse_repeat_count(element: &MarkupElement<'_>, name: &str) -> usize {
    element.prefixed_attribute(name).and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
}
