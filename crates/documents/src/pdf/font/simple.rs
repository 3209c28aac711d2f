//! Simple fonts with single-byte codes.

use std::rc::Rc;

use hayro_cmap::CMap;

use super::super::file::File;
use super::super::lexer::{Lexer, Token};
use super::super::object::{Dict, Object};
use super::encoding::Base;
use super::{Glyph, GlyphText, glyph_name, standard_width, told};
use crate::fault::Unreadable;

/// The cleartext part of a font program, which contains its encoding.
const PROGRAM_BYTES: usize = 64 * 1024;
const CODES: usize = 256;
/// Cost of looking up a glyph name, in steps.
const DIFFERENCE_STEPS: usize = 16;

pub(super) struct Simple {
    texts: Vec<Option<Rc<str>>>,
    widths: Vec<f64>,
}

impl Simple {
    pub(super) fn glyph(&self, text: &[u8]) -> Option<Glyph<'_>> {
        let code = usize::from(*text.first()?);
        let text = self.texts[code].as_deref().map(GlyphText::Several);
        Some(Glyph { bytes: 1, text, width: self.widths[code] })
    }
}

pub(super) fn read(
    file: &mut File<'_>,
    dict: &Dict,
    to_unicode: Option<&CMap>,
) -> Result<Simple, Unreadable> {
    let mut texts = encoded(file, dict, to_unicode.is_some())?;
    let widths = widths(file, dict, &texts)?;
    for (code, text) in (0..).zip(&mut texts) {
        match to_unicode.and_then(|map| told(map, code)) {
            Some(GlyphText::One(character)) => *text = Some(character.to_string().into()),
            Some(GlyphText::Made(made)) => *text = Some(made.into()),
            Some(GlyphText::Several(_)) | None => {}
        }
    }
    Ok(Simple { texts, widths })
}

/// The text of each code by the font's encoding.
fn encoded(
    file: &mut File<'_>,
    dict: &Dict,
    has_map: bool,
) -> Result<Vec<Option<Rc<str>>>, Unreadable> {
    let encoding = file.get(dict, "Encoding")?;
    let base_font = file.get(dict, "BaseFont")?;
    let named = match &encoding {
        Object::Name(name) => Base::named(name),
        Object::Dict(dict) => Base::named(file.get(dict, "BaseEncoding")?.name().unwrap_or(b"")),
        _ => None,
    };
    let is_symbol = base_font.name().is_some_and(|name| name.ends_with(b"Symbol"));
    let is_true_type = file.get(dict, "Subtype")?.name() == Some(b"TrueType");
    let usual = if is_symbol {
        Base::Symbol
    } else if is_true_type {
        Base::WinAnsi
    } else {
        Base::Standard
    };
    let base = named.unwrap_or(usual);
    let character = |code| base.character(code).map(|it| Rc::from(it.to_string()));
    let mut texts: Vec<Option<Rc<str>>> = (0..=u8::MAX).map(character).collect();
    if named.is_none() && !has_map {
        for (code, name) in built_in(file, dict)? {
            texts[usize::from(code)] = glyph_name::text_of(&name).map(Rc::from);
        }
    }
    if let Object::Dict(encoding) = &encoding {
        let differences = file.get(encoding, "Differences")?;
        let differences = differences.array().cloned().unwrap_or_else(|| Rc::new([]));
        file.effort.spend(DIFFERENCE_STEPS * differences.len())?;
        let mut code = 0;
        for item in differences.iter() {
            match file.resolve(item)? {
                Object::Number(number) => code = Object::Number(number).index().unwrap_or(CODES),
                Object::Name(name) if code < CODES => {
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
fn built_in(file: &mut File<'_>, dict: &Dict) -> Result<Vec<NamedCode>, Unreadable> {
    let descriptor = file.dict(dict, "FontDescriptor")?;
    let Object::Stream(stream) = file.get(&descriptor, "FontFile")? else {
        return Ok(Vec::new());
    };
    let program = file.unpack(&stream)?.unwrap_or_default();
    let head = program.get(..PROGRAM_BYTES).unwrap_or(&program);
    let Some(start) = memchr::memmem::find(head, b"/Encoding") else { return Ok(Vec::new()) };
    let mut lexer = Lexer::new(head, start);
    let mut codes = Vec::new();
    let mut last = [None, None];
    while let Some(token) = lexer.token() {
        match (&last, &token) {
            ([Some(Token::Number(code)), Some(Token::Name(name))], Token::Word(b"put")) => {
                let code = Object::Number(*code).index().and_then(|it| u8::try_from(it).ok());
                codes.extend(code.map(|code| (code, name.clone())));
            }
            (_, Token::Word(b"def" | b"eexec")) if !codes.is_empty() => break,
            _ => {}
        }
        let [_, before] = last;
        last = [before, Some(token)];
    }
    file.effort.spend(head.len())?;
    Ok(codes)
}

/// Widths as fractions of the font size.
fn widths(
    file: &mut File<'_>,
    dict: &Dict,
    texts: &[Option<Rc<str>>],
) -> Result<Vec<f64>, Unreadable> {
    let matrix = file.get(dict, "FontMatrix")?;
    let scale = matrix.array().and_then(|items| items.first()?.number()).unwrap_or(0.001).abs();
    let given = file.get(dict, "Widths")?;
    let Some(given) = given.array() else {
        let name = file.get(dict, "BaseFont")?;
        let name = name.name().unwrap_or_default();
        let first = |text: &Option<Rc<str>>| text.as_deref().and_then(|it| it.chars().next());
        let standard = |text| standard_width::width(name, first(text)) / 1000.0;
        return Ok(texts.iter().map(standard).collect());
    };
    let descriptor = file.dict(dict, "FontDescriptor")?;
    let missing = file.get(&descriptor, "MissingWidth")?.number().unwrap_or(0.0);
    let mut widths = vec![missing * scale; CODES];
    let first = file.get(dict, "FirstChar")?.index().unwrap_or(0);
    for (width, item) in widths.iter_mut().skip(first).zip(given.iter()) {
        *width = file.resolve(item)?.number().unwrap_or(0.0) * scale;
    }
    Ok(widths)
}
