//! The locations of a PDF's objects, from its cross-reference tables or from a scan of the file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::file::File;
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object, Stream};
use crate::fault::{self, Unreadable};

/// Text-only files of 25 MB have fewer.
const OBJECTS_MAX: usize = 500_000;
/// Each incremental update appends a table.
const TABLES_MAX: usize = 512;
/// The end of the file, which contains the offset of the last table.
const TAIL_BYTES: usize = 2048;

#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) places: HashMap<u32, ObjectLocation>,
    pub(super) trailer: Dict,
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

impl Table {
    /// Newer tables are read first and take precedence.
    fn add(&mut self, number: usize, place: ObjectLocation) -> Result<(), Unreadable> {
        let Ok(number) = u32::try_from(number) else { return Ok(()) };
        self.places.entry(number).or_insert(place);
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Unreadable> {
        if OBJECTS_MAX < self.places.len() { Err(fault::TOO_MANY_PARTS) } else { Ok(()) }
    }
}

/// Reads the tables at the offsets in the file. `None` if one is broken.
pub(super) fn read(file: &mut File<'_>) -> Result<Option<Table>, Unreadable> {
    let Some(start) = last_table(file.bytes()) else { return Ok(None) };
    let mut table = Table::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![start];
    while let Some(at) = waiting.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(trailer) = section(file, at, &mut table)? else { return Ok(None) };
        if TABLES_MAX < seen.len() {
            return Ok(None);
        }
        // Popped from the end: the cross-reference stream of this table comes first.
        waiting.extend(trailer.raw("Prev").index());
        waiting.extend(trailer.raw("XRefStm").index());
        if !table.trailer.has("Root") {
            table.trailer = trailer;
        }
    }
    Ok(table.trailer.has("Root").then_some(table))
}

fn last_table(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.len().saturating_sub(TAIL_BYTES);
    let mark = memchr::memmem::rfind(&bytes[tail..], b"startxref")?;
    let mut lexer = Lexer::new(bytes, tail + mark + b"startxref".len());
    whole(lexer.token())
}

fn section(file: &mut File<'_>, at: usize, table: &mut Table) -> Result<Option<Dict>, Unreadable> {
    let mut lexer = Lexer::new(file.bytes(), at);
    if lexer.token() == Some(Token::Word(b"xref")) {
        let trailer = plain_section(&mut lexer, table)?;
        file.effort.spend(lexer.at().saturating_sub(at))?;
        return Ok(trailer);
    }
    let Some((_, Object::Stream(stream))) = file.indirect(at)? else { return Ok(None) };
    packed_section(file, &stream, table)
}

/// Lines of `offset generation n`, after the first number and the count.
fn plain_section(lexer: &mut Lexer<'_>, table: &mut Table) -> Result<Option<Dict>, Unreadable> {
    loop {
        let first = match lexer.token() {
            Some(Token::Word(b"trailer")) => {
                return Ok(lexer.object().and_then(|object| object.dict().cloned()));
            }
            token => whole(token),
        };
        let (Some(first), Some(count)) = (first, whole(lexer.token())) else { return Ok(None) };
        for number in (first..).take(count) {
            let before = lexer.at();
            let (offset, _) = (whole(lexer.token()), lexer.token());
            let place = match (lexer.token(), offset.map(u32::try_from)) {
                (Some(Token::Word(b"n")), Some(Ok(offset))) => ObjectLocation::At(offset),
                (Some(Token::Word(b"f")), _) => ObjectLocation::Nowhere,
                // There are fewer entries than declared.
                _ => {
                    lexer.move_to(before);
                    break;
                }
            };
            table.add(number, place)?;
        }
    }
}

fn packed_section(
    file: &mut File<'_>,
    stream: &Stream,
    table: &mut Table,
) -> Result<Option<Dict>, Unreadable> {
    let dict = &stream.dict;
    let widths: Vec<usize> =
        dict.raw("W").array().iter().flat_map(|it| it.iter()).filter_map(Object::index).collect();
    let [kind_width, place_width, index_width] = widths[..] else { return Ok(None) };
    let is_sane = widths.iter().all(|width| *width <= 8) && widths.iter().any(|width| 0 < *width);
    if !is_sane {
        return Ok(None);
    }
    let usual = [Object::Number(0.0), dict.raw("Size").clone()];
    let ranges = dict.raw("Index").array().cloned().unwrap_or_else(|| Rc::new(usual));
    let Some(bytes) = file.unpack(stream)? else { return Ok(None) };
    let mut entries = bytes.chunks_exact(kind_width + place_width + index_width);
    for range in ranges.chunks(2) {
        let [first, count] = range else { break };
        let (Some(first), Some(count)) = (first.index(), count.index()) else { break };
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
            table.add(number, place)?;
        }
    }
    Ok(Some(dict.clone()))
}

/// Scans the whole file for objects. Later ones are newer and take precedence.
pub(super) fn rebuild(file: &mut File<'_>) -> Result<Table, Unreadable> {
    let bytes = file.bytes();
    file.effort.spend(bytes.len())?;
    let mut table = Table::default();
    for mark in memchr::memmem::find_iter(bytes, b"obj") {
        let Some((number, at)) = header_before(bytes, mark) else { continue };
        table.places.insert(number, ObjectLocation::At(at));
        table.check_size()?;
    }
    file.set_table(table.clone());
    let mut numbers: Vec<(u32, u32)> = table.places.iter().filter_map(at).collect();
    numbers.sort_unstable();
    let mut root = Root::default();
    let mut last = None;
    let mut packs = Vec::new();
    for (at, number) in numbers {
        let Some(object) = object_at(file, at)? else { continue };
        let Some(dict) = object.dict() else { continue };
        if dict.is_a("Catalog") {
            root.found(at, number);
        }
        if dict.has("Root") {
            last = Some(dict.clone());
        }
        if dict.is_a("ObjStm") {
            packs.push((at, number));
        }
    }
    let trailer = last_trailer(file)?.or(last);
    // Object streams may be encrypted, and only the trailer says how.
    if let Some(trailer) = &trailer {
        file.unlock(trailer)?;
    }
    for (at, number) in packs {
        let Some(Object::Stream(stream)) = object_at(file, at)? else { continue };
        add_packed(file, (at, number, &stream), &mut table, &mut root)?;
    }
    table.trailer = trailer.or_else(|| root.newest.map(trailer_of)).unwrap_or_default();
    Ok(table)
}

/// The newest catalogue: the last in the file.
#[derive(Default)]
struct Root {
    at: u32,
    newest: Option<u32>,
}

impl Root {
    fn found(&mut self, at: u32, number: u32) {
        if self.at <= at {
            *self = Root { at, newest: Some(number) };
        }
    }
}

fn object_at(file: &mut File<'_>, at: u32) -> Result<Option<Object>, Unreadable> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    Ok(file.indirect(at)?.map(|(_, object)| object))
}

/// The last valid trailer. Files with only cross-reference streams have none.
fn last_trailer(file: &mut File<'_>) -> Result<Option<Dict>, Unreadable> {
    let bytes = file.bytes();
    let mut last = None;
    for mark in memchr::memmem::find_iter(bytes, b"trailer") {
        let mut lexer = Lexer::new(bytes, mark + b"trailer".len());
        let trailer = lexer.object();
        file.effort.spend(lexer.at() - mark)?;
        let trailer = trailer.and_then(|it| it.dict().cloned()).filter(|it| it.has("Root"));
        last = trailer.or(last);
    }
    Ok(last)
}

fn add_packed(
    file: &mut File<'_>,
    (at, number, stream): (u32, u32, &Stream),
    table: &mut Table,
    root: &mut Root,
) -> Result<(), Unreadable> {
    let packed = file.unpack_objects(stream)?;
    for (index, inner) in (0..).zip(packed.numbers()) {
        table.places.entry(inner).or_insert(ObjectLocation::Packed { stream: number, index });
        table.check_size()?;
        let (object, length) = packed.object(inner, index);
        file.effort.spend(length)?;
        if object.is_some_and(|it| it.dict().is_some_and(|it| it.is_a("Catalog"))) {
            root.found(at, inner);
        }
    }
    Ok(())
}

fn at((number, place): (&u32, &ObjectLocation)) -> Option<(u32, u32)> {
    match place {
        ObjectLocation::At(at) => Some((*at, *number)),
        ObjectLocation::Packed { .. } | ObjectLocation::Nowhere => None,
    }
}

fn trailer_of(root: u32) -> Dict {
    Dict::new(BTreeMap::from([(Rc::from(b"Root".as_slice()), Object::Ref(root))]))
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

fn whole(token: Option<Token<'_>>) -> Option<usize> {
    match token? {
        Token::Number(number) => Object::Number(number).index(),
        _ => None,
    }
}
