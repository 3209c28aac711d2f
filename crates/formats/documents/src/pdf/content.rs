//! Interprets the content of a page as far as text is concerned.

mod text_state;

use std::rc::Rc;

use self::text_state::GraphicsState;
use super::file::PdfFile;
use super::font::{FontCache, GlyphText};
use super::lexer::{PdfLexer, PdfToken, is_space};
use super::matrix::AffineMatrix;
use super::object::{PdfDict, PdfObject, PdfStream};
use super::run::{PlacedGlyph, TextRunBuilder};
use super::string;
use crate::fault::DocumentReadError;

/// Maximum nesting of form XObjects.
const FORMS_MAX: usize = 16;
/// Maximum saved graphics states.
const STATES_MAX: usize = 512;
/// Maximum open marked-content sequences.
const MARKS_MAX: usize = 32;
/// More operands than any operator takes.
const OPERANDS_MAX: usize = 40;
/// Cost of an operator and of a glyph, in steps, besides its bytes.
const OPERATOR_STEPS: usize = 16;
const GLYPH_STEPS: usize = 24;

/// Observations besides text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageObservations {
    pub(super) has_picture: bool,
    /// Glyphs without a known character.
    pub(super) unknown_glyphs: usize,
}

pub(super) struct ContentInterpreter<'a, 'b> {
    pub(super) file: &'a mut PdfFile<'b>,
    pub(super) fonts: &'a mut FontCache,
    pub(super) runs: TextRunBuilder,
    pub(super) seen: PageObservations,
    pub(super) text_bytes_max: usize,
    /// Form XObjects in progress, by the offset of their data.
    forms: Vec<usize>,
    graphics: GraphicsState,
    saved: Vec<GraphicsState>,
    /// Open marked-content sequences, with the replacement text until it is written.
    marks: Vec<MarkedContent>,
}

#[derive(Debug)]
enum MarkedContent {
    Plain,
    Replaced(Option<String>),
}

impl<'a, 'b> ContentInterpreter<'a, 'b> {
    pub(super) fn new(
        file: &'a mut PdfFile<'b>,
        fonts: &'a mut FontCache,
        text_bytes_max: usize,
    ) -> ContentInterpreter<'a, 'b> {
        ContentInterpreter {
            file,
            fonts,
            runs: TextRunBuilder::default(),
            seen: PageObservations::default(),
            text_bytes_max,
            forms: Vec::new(),
            graphics: GraphicsState::default(),
            saved: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(super) fn interpret_content(
        &mut self,
        content: &[u8],
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        let mut lexer = PdfLexer::new(content, 0);
        let mut operands: Vec<PdfObject> = Vec::new();
        let mut at = 0;
        while let Some(token) = lexer.next_token() {
            match token {
                PdfToken::Word(word @ (b"true" | b"false" | b"null")) => {
                    operands.extend(lexer.value_from(PdfToken::Word(word)));
                }
                PdfToken::Word(b"ID") => {
                    self.seen.has_picture = true;
                    skip_picture(&mut lexer);
                    operands.clear();
                }
                PdfToken::Word(operator) => {
                    self.file.effort.spend(OPERATOR_STEPS)?;
                    self.apply_operator(operator, &operands, resources)?;
                    operands.clear();
                }
                token => operands.extend(lexer.value_from(token)),
            }
            operands.truncate(OPERANDS_MAX);
            self.file.effort.spend(lexer.offset() - at)?;
            at = lexer.offset();
        }
        Ok(())
    }

    fn apply_operator(
        &mut self,
        operator: &[u8],
        operands: &[PdfObject],
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        match operator {
            b"q" if self.saved.len() < STATES_MAX => self.saved.push(self.graphics.clone()),
            b"Q" => self.graphics = self.saved.pop().unwrap_or_else(|| self.graphics.clone()),
            b"Do" => return self.draw_xobject(operands, resources),
            b"Tf" => return self.set_font(operands, resources),
            b"gs" => return self.set_state(operands, resources),
            b"BMC" => self.open_mark(MarkedContent::Plain),
            b"BDC" => {
                let mark = self.read_marked_content(operands, resources)?;
                self.open_mark(mark);
            }
            b"EMC" => drop(self.marks.pop()),
            b"Tj" => self.show_first(operands)?,
            b"'" => {
                self.graphics.text.next_line();
                self.show_first(operands)?;
            }
            b"\"" => {
                if let [PdfObject::Number(words), PdfObject::Number(characters), ..] = operands {
                    self.graphics.text.word_space = *words;
                    self.graphics.text.character_space = *characters;
                }
                self.graphics.text.next_line();
                self.show_first(operands)?;
            }
            b"TJ" => {
                if let Some(PdfObject::Array(items)) = operands.last() {
                    let items = items.clone();
                    self.show_adjusted(&items)?;
                }
            }
            _ => self.graphics.apply_operator(operator, operands),
        }
        Ok(())
    }

    fn set_font(
        &mut self,
        operands: &[PdfObject],
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        let [.., PdfObject::Name(name), PdfObject::Number(size)] = operands else { return Ok(()) };
        let fonts = self.file.get_dict(resources, "Font")?;
        self.graphics.text.font = self.fonts.load_font(self.file, fonts.raw_bytes(name))?;
        self.graphics.text.size = *size;
        Ok(())
    }

    /// A graphics state may set the font.
    fn set_state(
        &mut self,
        operands: &[PdfObject],
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        let Some(PdfObject::Name(name)) = operands.last() else { return Ok(()) };
        let states = self.file.get_dict(resources, "ExtGState")?;
        let state = self.file.resolve(states.raw_bytes(name))?;
        let Some(state) = state.as_dict() else { return Ok(()) };
        let font = self.file.get(state, "Font")?;
        if let Some([font, PdfObject::Number(size)]) = font.as_array().map(|items| &items[..]) {
            self.graphics.text.font = self.fonts.load_font(self.file, font)?;
            self.graphics.text.size = *size;
        }
        Ok(())
    }

    fn draw_xobject(
        &mut self,
        operands: &[PdfObject],
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        let Some(PdfObject::Name(name)) = operands.last() else { return Ok(()) };
        let drawings = self.file.get_dict(resources, "XObject")?;
        let drawing = self.file.resolve(drawings.raw_bytes(name))?;
        let PdfObject::Stream(stream) = drawing else { return Ok(()) };
        if self.file.get(&stream.dict, "Subtype")?.as_name() == Some(b"Image") {
            self.seen.has_picture = true;
            return Ok(());
        }
        self.draw_form(&stream, AffineMatrix::SAME, resources)
    }

    /// Draws a form XObject, which may contain others but not itself.
    fn draw_form(
        &mut self,
        stream: &PdfStream,
        place: AffineMatrix,
        resources: &PdfDict,
    ) -> Result<(), DocumentReadError> {
        let is_again = self.forms.contains(&stream.data.start);
        if is_again || FORMS_MAX <= self.forms.len() {
            return Ok(());
        }
        let Some(content) = self.file.unpack_stream(stream)? else { return Ok(()) };
        let own = self.file.get(&stream.dict, "Resources")?;
        let resources = own.as_dict().unwrap_or(resources);
        let matrix = self.file.get(&stream.dict, "Matrix")?;
        let matrix = matrix.as_array().and_then(|it| matrix_of(it)).unwrap_or(AffineMatrix::SAME);
        let graphics = self.graphics.clone();
        let (saved, marks) = (std::mem::take(&mut self.saved), self.marks.len());
        self.graphics.matrix = matrix.then(place).then(self.graphics.matrix);
        self.forms.push(stream.data.start);
        let painted = self.interpret_content(&content, resources);
        self.forms.pop();
        self.marks.truncate(marks);
        (self.graphics, self.saved) = (graphics, saved);
        painted
    }

    /// Draws a stream that is not part of the page's content, with a fresh graphics state.
    pub(super) fn draw_separately(
        &mut self,
        stream: &PdfStream,
        place: AffineMatrix,
    ) -> Result<(), DocumentReadError> {
        self.graphics = GraphicsState::default();
        self.saved.clear();
        self.marks.clear();
        self.draw_form(stream, place, &PdfDict::default())
    }

    fn open_mark(&mut self, mark: MarkedContent) {
        if self.marks.len() < MARKS_MAX {
            self.marks.push(mark);
        }
    }

    /// Marked content may state the text of its glyphs (`ActualText`).
    fn read_marked_content(
        &mut self,
        operands: &[PdfObject],
        resources: &PdfDict,
    ) -> Result<MarkedContent, DocumentReadError> {
        let properties = match operands.last() {
            Some(PdfObject::Name(name)) => {
                let named = self.file.get_dict(resources, "Properties")?;
                self.file.resolve(named.raw_bytes(name))?
            }
            Some(other) => other.clone(),
            None => PdfObject::Null,
        };
        let Some(properties) = properties.as_dict() else { return Ok(MarkedContent::Plain) };
        Ok(match self.file.get(properties, "ActualText")? {
            PdfObject::Text(text) => {
                self.file.effort.spend(text.len())?;
                MarkedContent::Replaced(Some(string::decode_text_string(&text)))
            }
            _ => MarkedContent::Plain,
        })
    }

    fn show_first(&mut self, operands: &[PdfObject]) -> Result<(), DocumentReadError> {
        match operands.last() {
            Some(PdfObject::Text(text)) => self.show_text(&text.clone()),
            _ => Ok(()),
        }
    }

    fn show_adjusted(&mut self, items: &Rc<[PdfObject]>) -> Result<(), DocumentReadError> {
        for item in items.iter() {
            match item {
                PdfObject::Text(text) => self.show_text(text)?,
                PdfObject::Number(number) => self.graphics.text.adjust(*number),
                _ => {}
            }
        }
        Ok(())
    }

    fn show_text(&mut self, text: &[u8]) -> Result<(), DocumentReadError> {
        let Some(font) = self.graphics.text.font.clone() else { return Ok(()) };
        let mut rest = text;
        while let Some(glyph) = font.first_glyph(rest) {
            let code = &rest[..glyph.bytes];
            rest = &rest[glyph.bytes..];
            let GraphicsState { matrix, text: state } = &mut self.graphics;
            let placed = state.place_glyph(glyph.width, code == b" ", *matrix);
            let made;
            let mut letter = [0; 4];
            let text = match &glyph.text {
                Some(GlyphText::One(character)) => &*character.encode_utf8(&mut letter),
                Some(GlyphText::Several(text)) => text,
                Some(GlyphText::Made(text)) => text,
                None => "",
            };
            self.file.effort.spend(GLYPH_STEPS + text.len())?;
            let is_known = glyph.text.is_some();
            let replaced = self.marks.iter_mut().find_map(|mark| match mark {
                MarkedContent::Plain => None,
                MarkedContent::Replaced(text) => Some(text.take().unwrap_or_default()),
            });
            let text = match replaced {
                Some(text) => {
                    made = text;
                    made.as_str()
                }
                None => {
                    self.seen.unknown_glyphs += usize::from(!is_known);
                    text
                }
            };
            if let Some(placed) = placed {
                let glyph = PlacedGlyph { text, ..placed };
                self.runs.add(glyph, self.text_bytes_max)?;
            }
        }
        Ok(())
    }
}

pub(super) fn matrix_of(items: &[PdfObject]) -> Option<AffineMatrix> {
    let mut numbers = [0.0; 6];
    let items = &items[items.len().checked_sub(numbers.len())?..];
    for (number, item) in numbers.iter_mut().zip(items) {
        *number = item.as_number()?;
    }
    Some(AffineMatrix::new(numbers))
}

/// Skips an inline image, which has no length and ends with `EI`.
fn skip_picture(lexer: &mut PdfLexer<'_>) {
    let rest = lexer.rest();
    let is_end = |at: &usize| {
        let before = at.checked_sub(1).and_then(|it| rest.get(it));
        let after = rest.get(at + 2);
        before.is_none_or(|it| is_space(*it)) && after.is_none_or(|it| is_space(*it))
    };
    let end = memchr::memmem::find_iter(rest, b"EI").find(is_end);
    lexer.move_to(lexer.offset() + end.map_or(rest.len(), |end| end + 2));
}
