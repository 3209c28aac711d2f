//! The locations of a PDF's objects, from its cross-reference tables or from a scan of the file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::file::PdfFile;
use super::lexer::{PdfLexer, PdfToken};
use super::object::{PdfDict, PdfObject, PdfStream};
use crate::fault::{self, DocumentReadError};

/// Text-only files of 25 MB have fewer.
const OBJECTS_MAX: usize = 500_000;
/// Each incremental update appends a table.
const TABLES_MAX: usize = 512;
/// The end of the file, which contains the offset of the last table.
const TAIL_BYTES: usize = 2048;

#[derive(Debug, Clone, Default)]
pub(super) struct ObjectTable {
    pub(super) places: HashMap<u32, ObjectLocation>,
    pub(super) trailer: PdfDict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectLocation {
    At(u32),
    Packed {
        stream: u32,
        index: u32,
    },
    /// Deleted. Older tables must not restore it.
    Nowhere,
}

impl ObjectTable {
    /// Newer tables are read first and take precedence.
    fn add_location(
        &mut self,
        number: usize,
        place: ObjectLocation,
    ) -> Result<(), DocumentReadError> {
        let Ok(number) = u32::try_from(number) else { return Ok(()) };
        self.places.entry(number).or_insert(place);
        self.check_size()
    }

    fn check_size(&self) -> Result<(), DocumentReadError> {
        if OBJECTS_MAX < self.places.len() { Err(fault::TOO_MANY_PARTS) } else { Ok(()) }
    }
}

/// Reads the tables at the offsets in the file. `None` if one is broken.
pub(super) fn read_tables(
    file: &mut PdfFile<'_>,
) -> Result<Option<ObjectTable>, DocumentReadError> {
    let Some(start) = last_table(file.bytes()) else { return Ok(None) };
    let mut table = ObjectTable::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![start];
    while let Some(at) = waiting.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(trailer) = read_section(file, at, &mut table)? else { return Ok(None) };
        if TABLES_MAX < seen.len() {
            return Ok(None);
        }
        // Popped from the end: the cross-reference stream of this table comes first.
        waiting.extend(trailer.raw("Prev").as_index());
        waiting.extend(trailer.raw("XRefStm").as_index());
        if !table.trailer.has("Root") {
            table.trailer = trailer;
        }
    }
    Ok(table.trailer.has("Root").then_some(table))
}

fn last_table(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.len().saturating_sub(TAIL_BYTES);
    let mark = memchr::memmem::rfind(&bytes[tail..], b"startxref")?;
    let mut lexer = PdfLexer::new(bytes, tail + mark + b"startxref".len());
    token_to_index(lexer.next_token())
}

fn read_section(
    file: &mut PdfFile<'_>,
    at: usize,
    table: &mut ObjectTable,
) -> Result<Option<PdfDict>, DocumentReadError> {
    let mut lexer = PdfLexer::new(file.bytes(), at);
    if lexer.next_token() == Some(PdfToken::Word(b"xref")) {
        let trailer = plain_section(&mut lexer, table)?;
        file.effort.spend(lexer.offset().saturating_sub(at))?;
        return Ok(trailer);
    }
    let Some((_, PdfObject::Stream(stream))) = file.parse_indirect(at)? else { return Ok(None) };
    packed_section(file, &stream, table)
}

/// Lines of `offset generation n`, after the first number and the count.
fn plain_section(
    lexer: &mut PdfLexer<'_>,
    table: &mut ObjectTable,
) -> Result<Option<PdfDict>, DocumentReadError> {
    loop {
        let first = match lexer.next_token() {
            Some(PdfToken::Word(b"trailer")) => {
                return Ok(lexer.parse_object().and_then(|object| object.as_dict().cloned()));
            }
            token => token_to_index(token),
        };
        let (Some(first), Some(count)) = (first, token_to_index(lexer.next_token())) else {
            return Ok(None);
        };
        for number in (first..).take(count) {
            let before = lexer.offset();
            let (offset, _) = (token_to_index(lexer.next_token()), lexer.next_token());
            let place = match (lexer.next_token(), offset.map(u32::try_from)) {
                (Some(PdfToken::Word(b"n")), Some(Ok(offset))) => ObjectLocation::At(offset),
                (Some(PdfToken::Word(b"f")), _) => ObjectLocation::Nowhere,
                // There are fewer entries than declared.
                _ => {
                    lexer.move_to(before);
                    break;
                }
            };
            table.add_location(number, place)?;
        }
    }
}

fn packed_section(
    file: &mut PdfFile<'_>,
    stream: &PdfStream,
    table: &mut ObjectTable,
) -> Result<Option<PdfDict>, DocumentReadError> {
    let dict = &stream.dict;
    let widths: Vec<usize> = dict
        .raw("W")
        .as_array()
        .iter()
        .flat_map(|it| it.iter())
        .filter_map(PdfObject::as_index)
        .collect();
    let [kind_width, place_width, index_width] = widths[..] else { return Ok(None) };
    let is_sane = widths.iter().all(|width| *width <= 8) && widths.iter().any(|width| 0 < *width);
    if !is_sane {
        return Ok(None);
    }
    let usual = [PdfObject::Number(0.0), dict.raw("Size").clone()];
    let ranges = dict.raw("Index").as_array().cloned().unwrap_or_else(|| Rc::new(usual));
    let Some(bytes) = file.unpack_stream(stream)? else { return Ok(None) };
    let mut entries = bytes.chunks_exact(kind_width + place_width + index_width);
    for range in ranges.chunks(2) {
        let [first, count] = range else { break };
        let (Some(first), Some(count)) = (first.as_index(), count.as_index()) else { break };
        for (number, entry) in (first..).zip(entries.by_ref().take(count)) {
            let (kind, rest) = entry.split_at(kind_width);
            let (place, index) = rest.split_at(place_width);
            let kind = if kind.is_empty() { 1 } else { big_endian(kind) };
            let [place, index] = [place, index].map(|it| u32::try_from(big_endian(it)).ok());
            let place = match (kind, place, index) {
                (1, Some(place), _) => ObjectLocation::At(place),
                (2, Some(stream), Some(index)) => ObjectLocation::Packed { stream, index },
                _ => ObjectLocation::Nowhere,
            };
            table.add_location(number, place)?;
        }
    }
    Ok(Some(dict.clone()))
}

/// Scans the whole file for objects. Later ones are newer and take precedence.
pub(super) fn rebuild_table(file: &mut PdfFile<'_>) -> Result<ObjectTable, DocumentReadError> {
    let bytes = file.bytes();
    file.effort.spend(bytes.len())?;
    let mut table = ObjectTable::default();
    for mark in memchr::memmem::find_iter(bytes, b"obj") {
        let Some((number, at)) = header_before(bytes, mark) else { continue };
        table.places.insert(number, ObjectLocation::At(at));
        table.check_size()?;
    }
    file.set_table(table.clone());
    let found = table.places.iter();
    let found = found.filter_map(|(number, place)| ObjectOffset::from_location(*number, *place));
    let mut offsets: Vec<ObjectOffset> = found.collect();
    offsets.sort_unstable();
    let mut root = NewestCatalog::default();
    let mut last = None;
    let mut packs = Vec::new();
    for offset in offsets {
        let Some(object) = object_at(file, offset.at)? else { continue };
        let Some(dict) = object.as_dict() else { continue };
        if dict.is_a("Catalog") {
            root.add_candidate(offset);
        }
        if dict.has("Root") {
            last = Some(dict.clone());
        }
        if dict.is_a("ObjStm") {
            packs.push(offset);
        }
    }
    let trailer = last_trailer(file)?.or(last);
    // Object streams may be encrypted, and only the trailer says how.
    if let Some(trailer) = &trailer {
        file.read_encryption(trailer)?;
    }
    for pack in packs {
        let Some(PdfObject::Stream(stream)) = object_at(file, pack.at)? else { continue };
        add_packed(file, pack, &stream, &mut table, &mut root)?;
    }
    table.trailer = trailer.or_else(|| root.newest.map(build_trailer)).unwrap_or_default();
    Ok(table)
}

/// An object's offset in the file, and its number. Sorts in the order of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectOffset {
    at: u32,
    number: u32,
}

impl ObjectOffset {
    fn from_location(number: u32, place: ObjectLocation) -> Option<ObjectOffset> {
        match place {
            ObjectLocation::At(at) => Some(ObjectOffset { at, number }),
            ObjectLocation::Packed { .. } | ObjectLocation::Nowhere => None,
        }
    }
}

/// The newest catalogue: the last in the file.
#[derive(Default)]
struct NewestCatalog {
    at: u32,
    newest: Option<u32>,
}

impl NewestCatalog {
    fn add_candidate(&mut self, candidate: ObjectOffset) {
        if self.at <= candidate.at {
            *self = NewestCatalog { at: candidate.at, newest: Some(candidate.number) };
        }
    }
}

fn object_at(file: &mut PdfFile<'_>, at: u32) -> Result<Option<PdfObject>, DocumentReadError> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    Ok(file.parse_indirect(at)?.map(|(_, object)| object))
}

/// The last valid trailer. Files with only cross-reference streams have none.
fn last_trailer(file: &mut PdfFile<'_>) -> Result<Option<PdfDict>, DocumentReadError> {
    let bytes = file.bytes();
    let mut last = None;
    for mark in memchr::memmem::find_iter(bytes, b"trailer") {
        let mut lexer = PdfLexer::new(bytes, mark + b"trailer".len());
        let trailer = lexer.parse_object();
        file.effort.spend(lexer.offset() - mark)?;
        let trailer = trailer.and_then(|it| it.as_dict().cloned()).filter(|it| it.has("Root"));
        last = trailer.or(last);
    }
    Ok(last)
}

fn add_packed(
    file: &mut PdfFile<'_>,
    pack: ObjectOffset,
    stream: &PdfStream,
    table: &mut ObjectTable,
    root: &mut NewestCatalog,
) -> Result<(), DocumentReadError> {
    let packed = file.unpack_objects(stream)?;
    for (index, inner) in (0..).zip(packed.numbers()) {
        let place = ObjectLocation::Packed { stream: pack.number, index };
        table.places.entry(inner).or_insert(place);
        table.check_size()?;
        let (object, length) = packed.find_object(inner, index);
        file.effort.spend(length)?;
        if object.is_some_and(|it| it.as_dict().is_some_and(|it| it.is_a("Catalog"))) {
            root.add_candidate(ObjectOffset { at: pack.at, number: inner });
        }
    }
    Ok(())
}

fn build_trailer(root: u32) -> PdfDict {
    PdfDict::new(BTreeMap::from([(Rc::from(b"Root".as_slice()), PdfObject::Ref(root))]))
}

/// Parses `12 0 ` before `obj`: the number and its offset.
fn header_before(bytes: &[u8], mark: usize) -> Option<(u32, u32)> {
    /// Enough for both numbers and the spaces around them.
    const HEADER_BYTES: usize = 32;
    let window = &bytes[mark.saturating_sub(HEADER_BYTES)..mark];
    let (rest, _) = number_before(window)?;
    let (rest, number) = number_before(rest)?;
    let at = mark - window.len() + rest.len();
    Some((number, u32::try_from(at).ok()?))
}

/// The number at the end, and the bytes before it.
fn number_before(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let bytes = bytes.trim_ascii_end();
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = bytes.split_at(bytes.len() - digits);
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((rest, number))
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

fn token_to_index(token: Option<PdfToken<'_>>) -> Option<usize> {
    match token? {
        PdfToken::Number(number) => PdfObject::Number(number).as_index(),
        _ => None,
    }
}
