//! Excel workbooks: one line per row, with tabs between cells.

use crate::archive::{DocumentArchive, check_count};
use crate::cell_format::{CellFormats, DateSystem};
use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupElement, MarkupEvent, MarkupKind, MarkupParser};
use crate::office::PartRelations;
use crate::shared_strings::SharedStrings;
use crate::text_output::TextOutput;

/// Excel's own limit of columns.
const COLUMNS_MAX: usize = 16_384;

pub(crate) fn read_workbook(
    archive: &mut DocumentArchive<'_>,
    main: &str,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let relations = PartRelations::read_relations(archive, main)?;
    let (sheets, calendar) = read_sheet_list(archive.open_markup(main, MarkupKind::Xml)?)?;
    let strings = match relations.of_kind("/sharedStrings") {
        Some(name) => SharedStrings::read_strings(archive.open_markup(name, MarkupKind::Xml)?)?,
        None => SharedStrings::default(),
    };
    let formats = match relations.of_kind("/styles") {
        Some(name) => {
            CellFormats::read_styles(archive.open_markup(name, MarkupKind::Xml)?, calendar)?
        }
        None => CellFormats::default(),
    };
    for XlsxSheet { name, id } in sheets {
        let part = relations.target(&id).ok_or(fault::MISSING_PART)?;
        let is_chart = part.contains("chartsheets/");
        if is_chart {
            continue;
        }
        page.end_part()?;
        page.write(&format!("Sheet: {name}"))?;
        page.end_line()?;
        let markup = archive.open_markup(part, MarkupKind::Xml)?;
        SheetReader { strings: &strings, formats: &formats, page, column: 0 }.read(markup)?;
    }
    Ok(())
}

struct XlsxSheet {
    name: String,
    id: String,
}

fn read_sheet_list(
    mut markup: MarkupParser<'_>,
) -> Result<(Vec<XlsxSheet>, DateSystem), DocumentReadError> {
    let mut sheets = Vec::new();
    let mut calendar = DateSystem::From1900;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        match element.name() {
            "sheet" => {
                let found = (element.plain_attribute("name"), element.prefixed_attribute("id"));
                let (Some(name), Some(id)) = found else { return Err(fault::MARKUP) };
                check_count(sheets.len())?;
                sheets.push(XlsxSheet { name, id });
            }
            "workbookPr" => {
                let counts_from_1904 = element.plain_attribute("date1904");
                if matches!(counts_from_1904.as_deref(), Some("1" | "true")) {
                    calendar = DateSystem::From1904;
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
    page: &'a mut TextOutput<'b>,
    /// The column after the last cell.
    column: usize,
}

/// The cell being parsed.
#[derive(Default)]
struct XlsxCell {
    kind: String,
    style: usize,
    value: String,
    formula: String,
    inline: String,
}

impl SheetReader<'_, '_> {
    fn read(mut self, mut markup: MarkupParser<'_>) -> Result<(), DocumentReadError> {
        let mut cell = XlsxCell::default();
        while let Some(mark) = markup.next()? {
            match mark {
                MarkupEvent::Open(element) => match element.name() {
                    "row" => self.column = 0,
                    "c" => {
                        cell = XlsxCell::from_element(&element);
                        self.go_to(element.plain_attribute("r").as_deref());
                    }
                    "v" => markup.read_text(&mut cell.value)?,
                    "f" => markup.read_text(&mut cell.formula)?,
                    "t" => markup.read_text(&mut cell.inline)?,
                    "rPh" | "extLst" | "conditionalFormatting" | "dataValidations" => {
                        markup.skip_element()?;
                    }
                    _ => {}
                },
                MarkupEvent::Close(name) => match name.as_str() {
                    "c" => self.write(&std::mem::take(&mut cell))?,
                    "row" => self.page.close_row()?,
                    _ => {}
                },
                MarkupEvent::Text(_) => {}
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

    fn write(&mut self, cell: &XlsxCell) -> Result<(), DocumentReadError> {
        let shown = match cell.kind.as_str() {
            "s" => {
                let index = cell.value.trim().parse().map_err(|_| fault::MARKUP)?;
                self.strings.get(index).ok_or(fault::MARKUP)?.to_owned()
            }
            "inlineStr" => cell.inline.clone(),
            "b" => if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => self.formats.format_number(cell.value.trim(), cell.style),
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

impl XlsxCell {
    fn from_element(element: &MarkupElement<'_>) -> XlsxCell {
        let style = element.plain_attribute("s").and_then(|it| it.parse().ok()).unwrap_or(0);
        XlsxCell {
            kind: element.plain_attribute("t").unwrap_or_default(),
            style,
            ..XlsxCell::default()
        }
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
