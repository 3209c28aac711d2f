//! Fonts as far as text needs them: the characters and widths of codes.

mod composite;
mod encoding;
mod glyph_name;
mod simple;
mod standard_width;

use std::collections::HashMap;
use std::rc::Rc;

use hayro_cmap::{BfString, CMap, CMapName, load_embedded};

use self::composite::CompositeFont;
use self::simple::SimpleFont;
use super::file::PdfFile;
use super::lexer::{PdfLexer, PdfToken};
use super::object::{PdfDict, PdfObject};
use crate::fault::DocumentReadError;

/// A map of all two-byte codes takes a megabyte.
const MAP_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Maximum for all maps of a file, which take many times as much when parsed.
const MAPS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum cached fonts.
const FONTS_MAX: usize = 1_024;
/// Maximum cached character widths, over all fonts.
const WIDTHS_MAX: usize = 2_000_000;
/// Cost of loading a font, in steps, besides its bytes.
const FONT_STEPS: usize = 10_000;
/// Maximum length of a mapped text, as written in the map. Ligatures are a few letters.
const MAPPED_BYTES_MAX: usize = 300;

pub(super) struct PdfFont {
    kind: FontKind,
    /// Set for vertical writing.
    pub(super) is_vertical: bool,
}

enum FontKind {
    Simple(Box<SimpleFont>),
    Composite(CompositeFont),
}

/// One code of a text.
pub(super) struct FontGlyph<'a> {
    /// Length of the code.
    pub(super) bytes: usize,
    /// `None` if the file does not state the character.
    pub(super) text: Option<GlyphText<'a>>,
    /// As a fraction of the font size.
    pub(super) width: f64,
}

pub(super) enum GlyphText<'a> {
    One(char),
    Several(&'a str),
    Made(String),
}

impl PdfFont {
    /// The first glyph of a text; `None` at its end.
    pub(super) fn first_glyph(&self, text: &[u8]) -> Option<FontGlyph<'_>> {
        match &self.kind {
            FontKind::Simple(font) => font.first_glyph(text),
            FontKind::Composite(font) => font.first_glyph(text),
        }
    }
}

/// The fonts of a file, each loaded once.
pub(super) struct FontCache {
    known: HashMap<u32, Rc<PdfFont>>,
    /// Predefined maps, by name.
    maps: HashMap<Box<[u8]>, Option<Rc<CMap>>>,
    map_bytes_left: usize,
    widths_left: usize,
}

impl Default for FontCache {
    fn default() -> FontCache {
        FontCache {
            known: HashMap::new(),
            maps: HashMap::new(),
            map_bytes_left: MAPS_BYTES_MAX,
            widths_left: WIDTHS_MAX,
        }
    }
}

impl FontCache {
    pub(super) fn load_font(
        &mut self,
        file: &mut PdfFile<'_>,
        object: &PdfObject,
    ) -> Result<Option<Rc<PdfFont>>, DocumentReadError> {
        if let PdfObject::Ref(number) = object
            && let Some(font) = self.known.get(number)
        {
            return Ok(Some(font.clone()));
        }
        file.effort.spend(FONT_STEPS)?;
        let resolved = file.resolve(object)?;
        let Some(dict) = resolved.as_dict() else { return Ok(None) };
        let font = Rc::new(self.read(file, dict)?);
        if FONTS_MAX <= self.known.len() {
            self.known.clear();
        }
        if let PdfObject::Ref(number) = object {
            self.known.insert(*number, font.clone());
        }
        Ok(Some(font))
    }

    fn read(
        &mut self,
        file: &mut PdfFile<'_>,
        dict: &PdfDict,
    ) -> Result<PdfFont, DocumentReadError> {
        let to_unicode = file.get(dict, "ToUnicode")?;
        let to_unicode = self.load_map(file, &to_unicode)?;
        if file.get(dict, "Subtype")?.as_name() == Some(b"Type0") {
            return composite::read_composite_font(self, file, dict, to_unicode);
        }
        let font = simple::read_simple_font(file, dict, to_unicode.as_deref())?;
        Ok(PdfFont { kind: FontKind::Simple(Box::new(font)), is_vertical: false })
    }

    /// Loads a code map, embedded in the file or predefined.
    fn load_map(
        &mut self,
        file: &mut PdfFile<'_>,
        object: &PdfObject,
    ) -> Result<Option<Rc<CMap>>, DocumentReadError> {
        let stream = match object {
            PdfObject::Name(name) => return Ok(self.named_map(name)),
            PdfObject::Stream(stream) => stream,
            _ => return Ok(None),
        };
        let bytes = file.unpack_stream(stream)?.unwrap_or_default();
        // `bcmap` is the library's internal format, which is not valid in files.
        if MAP_BYTES_MAX < bytes.len() || bytes.starts_with(b"bcmap") || has_long_text(&bytes) {
            return Ok(None);
        }
        let Some(left) = self.map_bytes_left.checked_sub(bytes.len()) else { return Ok(None) };
        self.map_bytes_left = left;
        file.effort.spend(bytes.len())?;
        Ok(CMap::parse(&bytes, load_embedded).map(Rc::new))
    }

    fn named_map(&mut self, name: &[u8]) -> Option<Rc<CMap>> {
        if let Some(map) = self.maps.get(name) {
            return map.clone();
        }
        // Unknown names are not cached, because there may be any number of them.
        let bytes = load_embedded(CMapName::from_bytes(name))?;
        let map = CMap::parse(bytes, load_embedded).map(Rc::new);
        self.maps.insert(name.into(), map.clone());
        map
    }
}

/// True if a map contains a text that is too long to look up quickly.
fn has_long_text(map: &[u8]) -> bool {
    let mut lexer = PdfLexer::new(map, 0);
    let mut start = 0;
    while let Some(token) = lexer.next_token() {
        if matches!(token, PdfToken::Text(_)) && MAPPED_BYTES_MAX < lexer.offset() - start {
            return true;
        }
        lexer.skip_space();
        start = lexer.offset();
    }
    false
}

/// The text of a code in a map, if any.
fn find_mapped_text(map: &CMap, code: u32) -> Option<GlyphText<'static>> {
    match map.lookup_bf_string(code)? {
        BfString::Char('\u{0}' | '\u{fffd}') => None,
        BfString::Char(character) => Some(GlyphText::One(character)),
        BfString::String(text) => Some(GlyphText::Made(text)),
    }
}
