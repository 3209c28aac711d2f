//! Composite fonts with multi-byte codes, used for Chinese, Japanese and Korean and by most new
//! files.

use std::rc::Rc;

use hayro_cmap::{CMap, CidFamily, WritingMode};

use super::super::file::PdfFile;
use super::super::object::{PdfDict, PdfObject};
use super::{FontCache, FontGlyph, FontKind, GlyphText, PdfFont, find_mapped_text};
use crate::fault::DocumentReadError;

const USUAL_WIDTH: f64 = 1000.0;
/// Cost of storing a width, in steps.
const WIDTH_STEPS: usize = 16;
/// Advance of vertical text, in font sizes.
const VERTICAL_ADVANCE: f64 = 1.0;

pub(super) struct CompositeFont {
    codes: CodeMapping,
    to_unicode: Option<Rc<CMap>>,
    /// Maps ids of a published character collection to characters.
    collection: Option<Rc<CMap>>,
    /// First and last character id and their width; sorted.
    widths: Vec<(u32, u32, f64)>,
    usual_width: f64,
    is_vertical: bool,
}

/// Splits a text into codes and maps them to character ids of the font.
enum CodeMapping {
    /// Two bytes, which are the character id itself.
    Pairs,
    Mapped {
        map: Rc<CMap>,
        /// The codes are UTF-16.
        is_unicode: bool,
    },
}

pub(super) fn read_composite_font(
    fonts: &mut FontCache,
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    to_unicode: Option<Rc<CMap>>,
) -> Result<PdfFont, DocumentReadError> {
    let descendants = file.get(dict, "DescendantFonts")?;
    let descendant =
        descendants.as_array().and_then(|it| it.first().cloned()).unwrap_or(PdfObject::Null);
    let descendant = file.resolve(&descendant)?.as_dict().cloned().unwrap_or_default();
    let encoding = file.get(dict, "Encoding")?;
    let map = fonts.load_map(file, &encoding)?;
    let name = encoding.as_name().unwrap_or_default();
    let is_vertical = name.ends_with(b"V")
        || map
            .as_ref()
            .is_some_and(|map| map.metadata().writing_mode == Some(WritingMode::Vertical));
    let codes = match map {
        Some(map) if !name.starts_with(b"Identity") => {
            CodeMapping::Mapped { map, is_unicode: name.starts_with(b"Uni") }
        }
        _ => CodeMapping::Pairs,
    };
    let system = file.get_dict(&descendant, "CIDSystemInfo")?;
    let (registry, ordering) =
        (get_text(file, &system, "Registry")?, get_text(file, &system, "Ordering")?);
    let family = CidFamily::from_registry_ordering(&registry, &ordering);
    let collection = family.ucs2_cmap().and_then(|name| fonts.named_map(name.to_bytes()));
    let usual_width = file.get(&descendant, "DW")?.as_number().unwrap_or(USUAL_WIDTH) / 1000.0;
    let widths = parse_widths(file, &descendant, fonts.widths_left)?;
    fonts.widths_left -= widths.len();
    let font = CompositeFont { codes, to_unicode, collection, widths, usual_width, is_vertical };
    Ok(PdfFont { kind: FontKind::Composite(font), is_vertical })
}

impl CompositeFont {
    pub(super) fn first_glyph(&self, text: &[u8]) -> Option<FontGlyph<'_>> {
        if text.is_empty() {
            return None;
        }
        let (code, bytes, character) = self.first_code(text);
        let text = self
            .to_unicode
            .as_ref()
            .and_then(|map| find_mapped_text(map, code))
            .or_else(|| self.by_code(code, bytes))
            .or_else(|| find_mapped_text(self.collection.as_ref()?, character));
        let width = if self.is_vertical { VERTICAL_ADVANCE } else { self.width(character) };
        Some(FontGlyph { bytes, text, width })
    }

    /// The first code, its length, and its character id in the font.
    fn first_code(&self, text: &[u8]) -> (u32, usize, u32) {
        let code = |length: usize| {
            let bytes = text.get(..length)?;
            Some(bytes.iter().fold(0_u32, |code, byte| (code << 8) | u32::from(*byte)))
        };
        let pair = text.len().min(2);
        let CodeMapping::Mapped { map, .. } = &self.codes else {
            let code = code(pair).unwrap_or(0);
            return (code, pair, code);
        };
        for length in 1..=4_u8 {
            let bytes = usize::from(length);
            let Some(code) = code(bytes) else { break };
            if let Some(character) = map.lookup_cid_code(code, length) {
                return (code, bytes, character);
            }
        }
        (code(pair).unwrap_or(0), pair, 0)
    }

    fn by_code(&self, code: u32, bytes: usize) -> Option<GlyphText<'static>> {
        let CodeMapping::Mapped { is_unicode: true, .. } = &self.codes else { return None };
        let [.., a, b, c, d] = code.to_be_bytes();
        let units = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        let units = if bytes == 4 { &units[..] } else { &units[1..] };
        let character = char::decode_utf16(units.iter().copied()).next()?.ok()?;
        Some(GlyphText::One(character))
    }

    fn width(&self, character: u32) -> f64 {
        let after = self.widths.partition_point(|(first, _, _)| *first <= character);
        let range = after.checked_sub(1).and_then(|place| self.widths.get(place));
        range.filter(|(_, last, _)| character <= *last).map_or(self.usual_width, |it| it.2)
    }
}

/// Parses `1 [500 600] 3 9 250`: a list from a character id on, or one width for a range.
fn parse_widths(
    file: &mut PdfFile<'_>,
    descendant: &PdfDict,
    widths_max: usize,
) -> Result<Vec<(u32, u32, f64)>, DocumentReadError> {
    let given = file.get(descendant, "W")?;
    let given = given.as_array().cloned().unwrap_or_else(|| Rc::new([]));
    file.effort.spend(WIDTH_STEPS * given.len())?;
    let mut widths = Vec::new();
    let mut rest = &given[..];
    while let [first, second, after @ ..] = rest
        && widths.len() < widths_max
    {
        let Some(first) = first.as_index().and_then(|it| u32::try_from(it).ok()) else { break };
        if let Some(list) = file.resolve(second)?.as_array() {
            file.effort.spend(WIDTH_STEPS * list.len())?;
            let list = (first..=u32::MAX).zip(list.iter()).take(widths_max - widths.len());
            widths.extend(list.map(|(at, it)| (at, at, it.as_number().unwrap_or(0.0) / 1000.0)));
            rest = after;
            continue;
        }
        let [width, after @ ..] = after else { break };
        let Some(last) = second.as_index().and_then(|it| u32::try_from(it).ok()) else { break };
        widths.push((first, last, width.as_number().unwrap_or(0.0) / 1000.0));
        rest = after;
    }
    widths.sort_by_key(|(first, _, _)| *first);
    Ok(widths)
}

fn get_text(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    key: &str,
) -> Result<Rc<[u8]>, DocumentReadError> {
    Ok(match file.get(dict, key)? {
        PdfObject::Text(text) => text,
        _ => Rc::new([]),
    })
}
