//! Workbooks of Excel 97 to 2003, stored as binary records.

use crate::cell_format::{CellFormats, DateSystem};
use crate::fault::{self, DocumentReadError};
use crate::ole_file::OleFile;
use crate::record::XlsRecord;
use crate::shared_strings::SharedStrings;
use crate::text_output::TextOutput;

const WORKBOOK: &str = "Workbook";
/// The supported version of the records.
const BIFF8: u16 = 0x600;

pub(crate) fn read_workbook(
    bytes: &[u8],
    bytes_left: &mut u64,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let compound = OleFile::open(bytes)?;
    if compound.has("EncryptedPackage") {
        return Err(fault::ENCRYPTED);
    }
    if !compound.has(WORKBOOK) {
        return Err(fault::OLD_OFFICE);
    }
    read_records(&compound.read_stream(WORKBOOK)?, bytes_left, page)
}

pub(crate) fn read_records(
    stream: &[u8],
    bytes_left: &mut u64,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let book = XlsWorkbook::parse_globals(stream)?;
    for sheet in &book.sheets {
        page.end_part()?;
        page.write(&format!("Sheet: {}", sheet.name))?;
        page.end_line()?;
        let cells = XlsCellReader {
            book: &book,
            page,
            bytes_left,
            row: None,
            column: 0,
            awaits_text: false,
        };
        cells.read(stream, sheet.place)?;
        page.close_row()?;
    }
    Ok(())
}

/// Data shared by all sheets.
struct XlsWorkbook {
    sheets: Vec<XlsSheet>,
    strings: SharedStrings,
    formats: CellFormats,
}

struct XlsSheet {
    name: String,
    place: usize,
}

impl XlsWorkbook {
    fn parse_globals(stream: &[u8]) -> Result<XlsWorkbook, DocumentReadError> {
        let mut calendar = DateSystem::From1900;
        let (mut codes, mut styles) = (Vec::new(), Vec::new());
        let (mut sheets, mut strings) = (Vec::new(), SharedStrings::default());
        let mut place = 0;
        while let Some((mut record, next)) = XlsRecord::read_at(stream, place)? {
            match record.kind {
                0x809 => check_version(record.read_u16()?)?,
                0x2f => return Err(fault::ENCRYPTED),
                0x22 => calendar = calendar_of(record.read_u16()?),
                0x41e => {
                    let id = record.read_u16()?.to_string();
                    let characters = usize::from(record.read_u16()?);
                    codes.push((id, record.read_text(characters)?));
                }
                0xe0 => {
                    record.skip(2);
                    styles.push(record.read_u16()?.to_string());
                }
                0x85 => sheets.extend(XlsSheet::parse_record(&mut record)?),
                0xfc => {
                    record.skip(8);
                    while record.has_more() {
                        let characters = usize::from(record.read_u16()?);
                        strings.push(&record.read_text(characters)?)?;
                    }
                }
                0xa => break,
                _ => {}
            }
            place = next;
        }
        Ok(XlsWorkbook { sheets, strings, formats: CellFormats::new(calendar, codes, &styles) })
    }
}

fn check_version(version: u16) -> Result<(), DocumentReadError> {
    if version == BIFF8 { Ok(()) } else { Err(fault::OLD_OFFICE) }
}

fn calendar_of(mode: u16) -> DateSystem {
    if mode == 1 { DateSystem::From1904 } else { DateSystem::From1900 }
}

impl XlsSheet {
    /// `None` for charts and macros, which have no cells.
    fn parse_record(record: &mut XlsRecord<'_>) -> Result<Option<XlsSheet>, DocumentReadError> {
        let place = usize::try_from(record.read_u32()?).map_err(|_| fault::DAMAGED)?;
        let [_, kind, characters] = record.take()?;
        let name = record.read_text(usize::from(characters))?;
        Ok((kind == 0).then_some(XlsSheet { name, place }))
    }
}

struct XlsCellReader<'a, 'b> {
    book: &'a XlsWorkbook,
    page: &'a mut TextOutput<'b>,
    /// Several sheets may refer to the same records, so each read is charged.
    bytes_left: &'a mut u64,
    row: Option<u16>,
    /// The column after the last cell.
    column: u16,
    /// Set if the next record has the text of a formula.
    awaits_text: bool,
}

impl XlsCellReader<'_, '_> {
    fn read(mut self, stream: &[u8], mut place: usize) -> Result<(), DocumentReadError> {
        let mut is_begun = false;
        while let Some((mut record, next)) = XlsRecord::read_at(stream, place)? {
            self.spend(next - place)?;
            place = next;
            match record.kind {
                0x809 => is_begun = true,
                _ if !is_begun => return Err(fault::DAMAGED),
                0xa => return Ok(()),
                0x207 if self.awaits_text => {
                    let characters = usize::from(record.read_u16()?);
                    let text = record.read_text(characters)?;
                    self.write(&text)?;
                    self.awaits_text = false;
                }
                0xfd | 0x203 | 0x27e | 0x204 | 0x205 | 0x6 => self.read_cell(&mut record)?,
                0xbd => self.row_of_numbers(&mut record)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), DocumentReadError> {
        let left = u64::try_from(bytes).ok().and_then(|it| self.bytes_left.checked_sub(it));
        *self.bytes_left = left.ok_or(fault::UNPACKS_TOO_LARGE)?;
        Ok(())
    }

    fn read_cell(&mut self, record: &mut XlsRecord<'_>) -> Result<(), DocumentReadError> {
        self.go_to(record.read_u16()?, record.read_u16()?)?;
        let style = usize::from(record.read_u16()?);
        match record.kind {
            0xfd => {
                let index = usize::try_from(record.read_u32()?).map_err(|_| fault::DAMAGED)?;
                let text = self.book.strings.get(index).ok_or(fault::DAMAGED)?;
                self.write(text)
            }
            0x203 => self.write_number(f64::from_le_bytes(record.take()?), style),
            0x27e => self.write_number(decode_rk_number(record.read_u32()?), style),
            0x204 => {
                let characters = usize::from(record.read_u16()?);
                let text = record.read_text(characters)?;
                self.write(&text)
            }
            0x205 => {
                let [value, is_error] = record.take()?;
                self.write(if is_error == 0 {
                    format_bool(value)
                } else {
                    format_error_code(value)
                })
            }
            _ => self.write_formula_result(record.take()?, style),
        }
    }

    /// The result of a formula.
    fn write_formula_result(
        &mut self,
        value: [u8; 8],
        style: usize,
    ) -> Result<(), DocumentReadError> {
        match value {
            [0, .., 0xff, 0xff] => {
                self.awaits_text = true;
                Ok(())
            }
            [1, _, value, .., 0xff, 0xff] => self.write(format_bool(value)),
            [2, _, value, .., 0xff, 0xff] => self.write(format_error_code(value)),
            [.., 0xff, 0xff] => Ok(()),
            number => self.write_number(f64::from_le_bytes(number), style),
        }
    }

    fn row_of_numbers(&mut self, record: &mut XlsRecord<'_>) -> Result<(), DocumentReadError> {
        let (row, mut column) = (record.read_u16()?, record.read_u16()?);
        loop {
            let style = record.read_u16()?;
            // The record ends with the last column, in place of another style.
            if !record.has_more() {
                return Ok(());
            }
            self.go_to(row, column)?;
            self.write_number(decode_rk_number(record.read_u32()?), usize::from(style))?;
            column = column.saturating_add(1);
        }
    }

    fn go_to(&mut self, row: u16, column: u16) -> Result<(), DocumentReadError> {
        self.awaits_text = false;
        if self.row != Some(row) {
            self.page.close_row()?;
            (self.row, self.column) = (Some(row), 0);
        }
        self.page.skip_cells(usize::from(column.saturating_sub(self.column)) + 1);
        self.column = column.max(self.column).saturating_add(1);
        Ok(())
    }

    fn write_number(&mut self, value: f64, style: usize) -> Result<(), DocumentReadError> {
        let shown = self.book.formats.format_number(&value.to_string(), style);
        self.write(&shown)
    }

    fn write(&mut self, text: &str) -> Result<(), DocumentReadError> {
        self.page.hold_line();
        self.page.write(text)?;
        self.page.release_line();
        Ok(())
    }
}

/// Decodes a number of four bytes: the upper bits of a float, or an integer, optionally multiplied
/// by 100.
fn decode_rk_number(word: u32) -> f64 {
    let value = if word & 2 == 0 {
        f64::from_bits(u64::from(word & !3) << 32)
    } else {
        f64::from(word.cast_signed() >> 2)
    };
    if word & 1 == 0 { value } else { value / 100.0 }
}

fn format_bool(value: u8) -> &'static str {
    if value == 0 { "FALSE" } else { "TRUE" }
}

fn format_error_code(value: u8) -> &'static str {
    match value {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}
