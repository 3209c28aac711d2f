//! Simple fonts with single-byte codes.

use std::rc::Rc;

use hayro_cmap::CMap;

use super::super::file::PdfFile;
use super::super::lexer::{PdfLexer, PdfToken};
use super::super::object::{PdfDict, PdfObject};
use super::encoding::BaseEncoding;
use super::{FontGlyph, GlyphText, find_mapped_text, glyph_name, standard_width};
use crate::fault::DocumentReadError;

/// The cleartext part of a font program, which contains its encoding.
const PROGRAM_BYTES: usize = 64 * 1024;
const CODES: usize = 256;
/// Cost of looking up a glyph name, in steps.
const DIFFERENCE_STEPS: usize = 16;

pub(super) struct SimpleFont {
    texts: Vec<Option<Rc<str>>>,
    widths: Vec<f64>,
}

impl SimpleFont {
    pub(super) fn first_glyph(&self, text: &[u8]) -> Option<FontGlyph<'_>> {
        let code = usize::from(*text.first()?);
        let text = self.texts[code].as_deref().map(GlyphText::Several);
        Some(FontGlyph { bytes: 1, text, width: self.widths[code] })
    }
}

pub(super) fn read_simple_font(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    to_unicode: Option<&CMap>,
) -> Result<SimpleFont, DocumentReadError> {
    let mut texts = read_encoding(file, dict, to_unicode.is_some())?;
    let widths = read_widths(file, dict, &texts)?;
    for (code, text) in (0..).zip(&mut texts) {
        match to_unicode.and_then(|map| find_mapped_text(map, code)) {
            Some(GlyphText::One(character)) => *text = Some(character.to_string().into()),
            Some(GlyphText::Made(made)) => *text = Some(made.into()),
            Some(GlyphText::Several(_)) | None => {}
        }
    }
    Ok(SimpleFont { texts, widths })
}

/// The text of each code by the font's encoding.
fn read_encoding(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    has_map: bool,
) -> Result<Vec<Option<Rc<str>>>, DocumentReadError> {
    let encoding = file.get(dict, "Encoding")?;
    let base_font = file.get(dict, "BaseFont")?;
    let named = match &encoding {
        PdfObject::Name(name) => BaseEncoding::from_name(name),
        PdfObject::Dict(dict) => {
            BaseEncoding::from_name(file.get(dict, "BaseEncoding")?.as_name().unwrap_or(b""))
        }
        _ => None,
    };
    let is_symbol = base_font.as_name().is_some_and(|name| name.ends_with(b"Symbol"));
    let is_true_type = file.get(dict, "Subtype")?.as_name() == Some(b"TrueType");
    let usual = if is_symbol {
        BaseEncoding::Symbol
    } else if is_true_type {
        BaseEncoding::WinAnsi
    } else {
        BaseEncoding::Standard
    };
    let base = named.unwrap_or(usual);
    let character = |code| base.character(code).map(|it| Rc::from(it.to_string()));
    let mut texts: Vec<Option<Rc<str>>> = (0..=u8::MAX).map(character).collect();
    if named.is_none() && !has_map {
        for (code, name) in read_built_in_encoding(file, dict)? {
            texts[usize::from(code)] = glyph_name::text_of(&name).map(Rc::from);
        }
    }
    if let PdfObject::Dict(encoding) = &encoding {
        let differences = file.get(encoding, "Differences")?;
        let differences = differences.as_array().cloned().unwrap_or_else(|| Rc::new([]));
        file.effort.spend(DIFFERENCE_STEPS * differences.len())?;
        let mut code = 0;
        for item in differences.iter() {
            match file.resolve(item)? {
                PdfObject::Number(number) => {
                    code = PdfObject::Number(number).as_index().unwrap_or(CODES)
                }
                PdfObject::Name(name) if code < CODES => {
                    texts[code] = glyph_name::text_of(&name).map(Rc::from);
                    code += 1;
                }
                _ => {}
            }
        }
    }
    Ok(texts)
}

/// A code and its glyph name.
type NamedCode = (u8, Rc<[u8]>);

/// The built-in encoding of a Type 1 font: `dup 65 /A put` for each code.
fn read_built_in_encoding(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
) -> Result<Vec<NamedCode>, DocumentReadError> {
    let descriptor = file.get_dict(dict, "FontDescriptor")?;
    let PdfObject::Stream(stream) = file.get(&descriptor, "FontFile")? else {
        return Ok(Vec::new());
    };
    let program = file.unpack_stream(&stream)?.unwrap_or_default();
    let head = program.get(..PROGRAM_BYTES).unwrap_or(&program);
    let Some(start) = memchr::memmem::find(head, b"/Encoding") else { return Ok(Vec::new()) };
    let mut lexer = PdfLexer::new(head, start);
    let mut codes = Vec::new();
    let mut last = [None, None];
    while let Some(token) = lexer.next_token() {
        match (&last, &token) {
            (
                [Some(PdfToken::Number(code)), Some(PdfToken::Name(name))],
                PdfToken::Word(b"put"),
            ) => {
                let code = PdfObject::Number(*code).as_index().and_then(|it| u8::try_from(it).ok());
                codes.extend(code.map(|code| (code, name.clone())));
            }
            (_, PdfToken::Word(b"def" | b"eexec")) if !codes.is_empty() => break,
            _ => {}
        }
        let [_, before] = last;
        last = [before, Some(token)];
    }
    file.effort.spend(head.len())?;
    Ok(codes)
}

/// Widths as fractions of the font size.
fn read_widths(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    texts: &[Option<Rc<str>>],
) -> Result<Vec<f64>, DocumentReadError> {
    let matrix = file.get(dict, "FontMatrix")?;
    let scale =
        matrix.as_array().and_then(|items| items.first()?.as_number()).unwrap_or(0.001).abs();
    let given = file.get(dict, "Widths")?;
    let Some(given) = given.as_array() else {
        let name = file.get(dict, "BaseFont")?;
        let name = name.as_name().unwrap_or_default();
        let first = |text: &Option<Rc<str>>| text.as_deref().and_then(|it| it.chars().next());
        let standard = |text| standard_width::find_standard_width(name, first(text)) / 1000.0;
        return Ok(texts.iter().map(standard).collect());
    };
    let descriptor = file.get_dict(dict, "FontDescriptor")?;
    let missing = file.get(&descriptor, "MissingWidth")?.as_number().unwrap_or(0.0);
    let mut widths = vec![missing * scale; CODES];
    let first = file.get(dict, "FirstChar")?.as_index().unwrap_or(0);
    for (width, item) in widths.iter_mut().skip(first).zip(given.iter()) {
        *width = file.resolve(item)?.as_number().unwrap_or(0.0) * scale;
    }
    Ok(widths)
}
