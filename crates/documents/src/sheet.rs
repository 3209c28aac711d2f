//! Excel workbooks: one line per row, with tabs between cells.

use crate::archive::{Archive, check_count};
use crate::cell_format::{Calendar, CellFormats};
use crate::fault::{self, Unreadable};
use crate::markup::{Element, Mark, Markup, MarkupKind};
use crate::office::Relations;
use crate::page::Page;
use crate::shared_strings::SharedStrings;

/// Excel's own limit of columns.
const COLUMNS_MAX: usize = 16_384;

pub(crate) fn read(
    archive: &mut Archive<'_>,
    main: &str,
    page: &mut Page<'_>,
) -> Result<(), Unreadable> {
    let relations = Relations::of(archive, main)?;
    let (sheets, calendar) = sheets(archive.markup(main, MarkupKind::Xml)?)?;
    let strings = match relations.of_kind("/sharedStrings") {
        Some(name) => SharedStrings::of(archive.markup(name, MarkupKind::Xml)?)?,
        None => SharedStrings::default(),
    };
    let formats = match relations.of_kind("/styles") {
        Some(name) => CellFormats::of(archive.markup(name, MarkupKind::Xml)?, calendar)?,
        None => CellFormats::default(),
    };
    for Sheet { name, id } in sheets {
        let part = relations.target(&id).ok_or(fault::MISSING_PART)?;
        let is_chart = part.contains("chartsheets/");
        if is_chart {
            continue;
        }
        page.end_part()?;
        page.write(&format!("Sheet: {name}"))?;
        page.end_line()?;
        let markup = archive.markup(part, MarkupKind::Xml)?;
        SheetReader { strings: &strings, formats: &formats, page, column: 0 }.read(markup)?;
    }
    Ok(())
}

struct Sheet {
    name: String,
    id: String,
}

fn sheets(mut markup: Markup<'_>) -> Result<(Vec<Sheet>, Calendar), Unreadable> {
    let mut sheets = Vec::new();
    let mut calendar = Calendar::From1900;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        match element.name() {
            "sheet" => {
                let found = (element.plain("name"), element.prefixed("id"));
                let (Some(name), Some(id)) = found else { return Err(fault::MARKUP) };
                check_count(sheets.len())?;
                sheets.push(Sheet { name, id });
            }
            "workbookPr" => {
                let counts_from_1904 = element.plain("date1904");
                if matches!(counts_from_1904.as_deref(), Some("1" | "true")) {
                    calendar = Calendar::From1904;
                }
            }
            _ => {}
        }
    }
    Ok((sheets, calendar))
}

struct SheetReader<'a, 'b> {
    strings: &'a SharedStrings,
    formats: &'a CellFormats,
    page: &'a mut Page<'b>,
    /// The column after the last cell.
    column: usize,
}

/// The cell being parsed.
#[derive(Default)]
struct Cell {
    kind: String,
    style: usize,
    value: String,
    formula: String,
    inline: String,
}

impl SheetReader<'_, '_> {
    fn read(mut self, mut markup: Markup<'_>) -> Result<(), Unreadable> {
        let mut cell = Cell::default();
        while let Some(mark) = markup.next()? {
            match mark {
                Mark::Open(element) => match element.name() {
                    "row" => self.column = 0,
                    "c" => {
                        cell = Cell::of(&element);
                        self.go_to(element.plain("r").as_deref());
                    }
                    "v" => markup.text(&mut cell.value)?,
                    "f" => markup.text(&mut cell.formula)?,
                    "t" => markup.text(&mut cell.inline)?,
                    "rPh" | "extLst" | "conditionalFormatting" | "dataValidations" => {
                        markup.skip()?;
                    }
                    _ => {}
                },
                Mark::Close(name) => match name.as_str() {
                    "c" => self.write(&std::mem::take(&mut cell))?,
                    "row" => self.page.close_row()?,
                    _ => {}
                },
                Mark::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Skips the cells before a reference such as `C7`.
    fn go_to(&mut self, place: Option<&str>) {
        let column = place.and_then(column_of).unwrap_or(self.column);
        self.page.skip_cells(column.saturating_sub(self.column));
        self.column = column.max(self.column) + 1;
        self.page.open_cell();
    }

    fn write(&mut self, cell: &Cell) -> Result<(), Unreadable> {
        let shown = match cell.kind.as_str() {
            "s" => {
                let index = cell.value.trim().parse().map_err(|_| fault::MARKUP)?;
                self.strings.get(index).ok_or(fault::MARKUP)?.to_owned()
            }
            "inlineStr" => cell.inline.clone(),
            "b" => if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => self.formats.show(cell.value.trim(), cell.style),
            _ => cell.value.clone(),
        };
        // Some programs write formulas without their result.
        if shown.is_empty() && !cell.formula.is_empty() {
            self.page.write(&format!("={}", cell.formula))?;
        } else {
            self.page.write(&shown)?;
        }
        self.page.close_cell();
        Ok(())
    }
}

impl Cell {
    fn of(element: &Element<'_>) -> Cell {
        let style = element.plain("s").and_then(|it| it.parse().ok()).unwrap_or(0);
        Cell { kind: element.plain("t").unwrap_or_default(), style, ..Cell::default() }
    }
}

/// The zero-based column of a cell reference; letters are digits in base 26.
fn column_of(place: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in place.bytes().take_while(u8::is_ascii_uppercase) {
        column = column * 26 + usize::from(letter - b'A') + 1;
        if COLUMNS_MAX < column {
            return None;
        }
    }
    column.checked_sub(1)
}
