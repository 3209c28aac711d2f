//! Tests with old workbooks that are damaged, encrypted, or of another kind.

use std::path::Path;

use super::pack::fault_of;
use crate::text_output::TextOutput;
use crate::xls::read_records;

const DAMAGED: &str = "It is damaged, or was cut short.";
const OLD: &str =
    "Its format, of Office 97 to 2003, is not supported; save it as DOCX, PPTX or XLSX.";
const ENCRYPTED: &str = "It is encrypted; save it without a password or copy protection.";
/// Offset of the first sector, where this workbook's records begin.
const RECORDS_AT: usize = 512;

fn workbook() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/xlwt.xls");
    std::fs::read(path).unwrap()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The workbook with another stream name in its directory.
fn renamed(name: &str) -> Vec<u8> {
    let mut bytes = workbook();
    let old = wide("Workbook");
    let place = bytes.windows(old.len()).position(|it| it == old).unwrap();
    let new = wide(name);
    bytes[place..place + new.len()].copy_from_slice(&new);
    bytes[place + 64] = u8::try_from(new.len() + 2).unwrap();
    bytes
}

#[test]
fn what_is_no_workbook_is_told_as_such() {
    assert_eq!(fault_of(&renamed("WordDocument")), OLD);
    assert_eq!(fault_of(&renamed("EncryptedPackage")), ENCRYPTED);
    let mut older = workbook();
    assert_eq!(older[RECORDS_AT..RECORDS_AT + 6], [0x09, 0x08, 0x10, 0, 0, 6]);
    older[RECORDS_AT + 5] = 5;
    assert_eq!(fault_of(&older), OLD);
}

#[test]
fn a_workbook_with_a_password_is_told_as_such() {
    let mut locked = workbook();
    locked[RECORDS_AT + 20] = 0x2f;
    locked[RECORDS_AT + 21] = 0;
    assert_eq!(fault_of(&locked), ENCRYPTED);
}

#[test]
fn a_workbook_that_is_cut_short_is_damaged() {
    let whole = workbook();
    for length in (8..whole.len() - RECORDS_AT).step_by(511) {
        assert_eq!(fault_of(&whole[..length]), DAMAGED, "{length}");
    }
}

#[test]
fn sectors_that_follow_themselves_end() {
    let mut bytes = workbook();
    let list = u32::from_le_bytes(*bytes[76..].first_chunk().unwrap());
    let table = RECORDS_AT * (usize::try_from(list).unwrap() + 1);
    for sector in 0..40_u32 {
        let place = table + 4 * usize::try_from(sector).unwrap();
        bytes[place..place + 4].copy_from_slice(&sector.to_le_bytes());
    }
    assert_eq!(fault_of(&bytes), DAMAGED);
}

#[test]
fn any_changed_byte_gives_a_text_or_a_fault() {
    let whole = workbook();
    for place in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        let _ = super::pack::text_of(&bytes);
    }
}

#[test]
fn sheets_that_share_their_records_cost_as_often_as_they_are_read() {
    let record = |kind: u16, body: &[u8]| {
        let length = u16::try_from(body.len()).unwrap();
        [&kind.to_le_bytes(), &length.to_le_bytes(), body].concat()
    };
    let begin = record(0x809, &[0, 6, 0x10, 0]);
    let end = record(0xa, &[]);
    let name = [0, 0, 1, 0, b'S'];
    let place = |at: usize| [&u32::try_from(at).unwrap().to_le_bytes(), name.as_slice()].concat();
    let sheet_bytes = record(0x85, &place(0)).len();
    let cells_at = begin.len() + 2_000 * sheet_bytes + end.len();
    let sheet = record(0x85, &place(cells_at));
    let idle = record(0x99, &[0; 8_000]).repeat(8);
    let stream = [begin.clone(), sheet.repeat(2_000), end.clone(), begin, idle, end].concat();
    let (mut bytes_left, mut text_left) = (64 * 1024 * 1024, 8 * 1024 * 1024);
    let mut page = TextOutput::new(&mut text_left);
    let fault = read_records(&stream, &mut bytes_left, &mut page).unwrap_err();
    let large = "Unpacked, it is larger than 64 MB together with the other files.";
    assert_eq!(fault.to_string(), large);
}
