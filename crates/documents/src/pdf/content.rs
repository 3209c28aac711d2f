//! Interprets the content of a page as far as text is concerned.

mod text_state;

use std::rc::Rc;

use self::text_state::Graphics;
use super::file::File;
use super::font::{Fonts, GlyphText};
use super::lexer::{Lexer, Token, is_space};
use super::matrix::Matrix;
use super::object::{Dict, Object, Stream};
use super::run::{PlacedGlyph, Runs};
use super::string;
use crate::fault::Unreadable;

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
pub(super) struct Seen {
    pub(super) has_picture: bool,
    /// Glyphs without a known character.
    pub(super) unknown_glyphs: usize,
}

pub(super) struct Painter<'a, 'b> {
    pub(super) file: &'a mut File<'b>,
    pub(super) fonts: &'a mut Fonts,
    pub(super) runs: Runs,
    pub(super) seen: Seen,
    pub(super) text_bytes_max: usize,
    /// Form XObjects in progress, by the offset of their data.
    forms: Vec<usize>,
    graphics: Graphics,
    saved: Vec<Graphics>,
    /// Open marked-content sequences, with the replacement text until it is written.
    marks: Vec<Mark>,
}

#[derive(Debug)]
enum Mark {
    Plain,
    Replaced(Option<String>),
}

impl<'a, 'b> Painter<'a, 'b> {
    pub(super) fn new(
        file: &'a mut File<'b>,
        fonts: &'a mut Fonts,
        text_bytes_max: usize,
    ) -> Painter<'a, 'b> {
        Painter {
            file,
            fonts,
            runs: Runs::default(),
            seen: Seen::default(),
            text_bytes_max,
            forms: Vec::new(),
            graphics: Graphics::default(),
            saved: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(super) fn paint(&mut self, content: &[u8], resources: &Dict) -> Result<(), Unreadable> {
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut at = 0;
        while let Some(token) = lexer.token() {
            match token {
                Token::Word(word @ (b"true" | b"false" | b"null")) => {
                    operands.extend(lexer.value_from(Token::Word(word)));
                }
                Token::Word(b"ID") => {
                    self.seen.has_picture = true;
                    skip_picture(&mut lexer);
                    operands.clear();
                }
                Token::Word(operator) => {
                    self.file.effort.spend(OPERATOR_STEPS)?;
                    self.operate(operator, &operands, resources)?;
                    operands.clear();
                }
                token => operands.extend(lexer.value_from(token)),
            }
            operands.truncate(OPERANDS_MAX);
            self.file.effort.spend(lexer.at() - at)?;
            at = lexer.at();
        }
        Ok(())
    }

    fn operate(
        &mut self,
        operator: &[u8],
        operands: &[Object],
        resources: &Dict,
    ) -> Result<(), Unreadable> {
        match operator {
            b"q" if self.saved.len() < STATES_MAX => self.saved.push(self.graphics.clone()),
            b"Q" => self.graphics = self.saved.pop().unwrap_or_else(|| self.graphics.clone()),
            b"Do" => return self.draw(operands, resources),
            b"Tf" => return self.set_font(operands, resources),
            b"gs" => return self.set_state(operands, resources),
            b"BMC" => self.open_mark(Mark::Plain),
            b"BDC" => {
                let mark = self.mark(operands, resources)?;
                self.open_mark(mark);
            }
            b"EMC" => drop(self.marks.pop()),
            b"Tj" => self.show_first(operands)?,
            b"'" => {
                self.graphics.text.next_line();
                self.show_first(operands)?;
            }
            b"\"" => {
                if let [Object::Number(words), Object::Number(characters), ..] = operands {
                    self.graphics.text.word_space = *words;
                    self.graphics.text.character_space = *characters;
                }
                self.graphics.text.next_line();
                self.show_first(operands)?;
            }
            b"TJ" => {
                if let Some(Object::Array(items)) = operands.last() {
                    let items = items.clone();
                    self.show_adjusted(&items)?;
                }
            }
            _ => self.graphics.set(operator, operands),
        }
        Ok(())
    }

    fn set_font(&mut self, operands: &[Object], resources: &Dict) -> Result<(), Unreadable> {
        let [.., Object::Name(name), Object::Number(size)] = operands else { return Ok(()) };
        let fonts = self.file.dict(resources, "Font")?;
        self.graphics.text.font = self.fonts.font(self.file, fonts.raw_bytes(name))?;
        self.graphics.text.size = *size;
        Ok(())
    }

    /// A graphics state may set the font.
    fn set_state(&mut self, operands: &[Object], resources: &Dict) -> Result<(), Unreadable> {
        let Some(Object::Name(name)) = operands.last() else { return Ok(()) };
        let states = self.file.dict(resources, "ExtGState")?;
        let state = self.file.resolve(states.raw_bytes(name))?;
        let Some(state) = state.dict() else { return Ok(()) };
        let font = self.file.get(state, "Font")?;
        if let Some([font, Object::Number(size)]) = font.array().map(|items| &items[..]) {
            self.graphics.text.font = self.fonts.font(self.file, font)?;
            self.graphics.text.size = *size;
        }
        Ok(())
    }

    fn draw(&mut self, operands: &[Object], resources: &Dict) -> Result<(), Unreadable> {
        let Some(Object::Name(name)) = operands.last() else { return Ok(()) };
        let drawings = self.file.dict(resources, "XObject")?;
        let drawing = self.file.resolve(drawings.raw_bytes(name))?;
        let Object::Stream(stream) = drawing else { return Ok(()) };
        if self.file.get(&stream.dict, "Subtype")?.name() == Some(b"Image") {
            self.seen.has_picture = true;
            return Ok(());
        }
        self.draw_form(&stream, Matrix::SAME, resources)
    }

    /// Draws a form XObject, which may contain others but not itself.
    fn draw_form(
        &mut self,
        stream: &Stream,
        place: Matrix,
        resources: &Dict,
    ) -> Result<(), Unreadable> {
        let is_again = self.forms.contains(&stream.data.start);
        if is_again || FORMS_MAX <= self.forms.len() {
            return Ok(());
        }
        let Some(content) = self.file.unpack(stream)? else { return Ok(()) };
        let own = self.file.get(&stream.dict, "Resources")?;
        let resources = own.dict().unwrap_or(resources);
        let matrix = self.file.get(&stream.dict, "Matrix")?;
        let matrix = matrix.array().and_then(|it| matrix_of(it)).unwrap_or(Matrix::SAME);
        let graphics = self.graphics.clone();
        let (saved, marks) = (std::mem::take(&mut self.saved), self.marks.len());
        self.graphics.matrix = matrix.then(place).then(self.graphics.matrix);
        self.forms.push(stream.data.start);
        let painted = self.paint(&content, resources);
        self.forms.pop();
        self.marks.truncate(marks);
        (self.graphics, self.saved) = (graphics, saved);
        painted
    }

    /// Draws a stream that is not part of the page's content, with a fresh graphics state.
    pub(super) fn draw_apart(&mut self, stream: &Stream, place: Matrix) -> Result<(), Unreadable> {
        self.graphics = Graphics::default();
        self.saved.clear();
        self.marks.clear();
        self.draw_form(stream, place, &Dict::default())
    }

    fn open_mark(&mut self, mark: Mark) {
        if self.marks.len() < MARKS_MAX {
            self.marks.push(mark);
        }
    }

    /// Marked content may state the text of its glyphs (`ActualText`).
    fn mark(&mut self, operands: &[Object], resources: &Dict) -> Result<Mark, Unreadable> {
        let properties = match operands.last() {
            Some(Object::Name(name)) => {
                let named = self.file.dict(resources, "Properties")?;
                self.file.resolve(named.raw_bytes(name))?
            }
            Some(other) => other.clone(),
            None => Object::Null,
        };
        let Some(properties) = properties.dict() else { return Ok(Mark::Plain) };
        Ok(match self.file.get(properties, "ActualText")? {
            Object::Text(text) => {
                self.file.effort.spend(text.len())?;
                Mark::Replaced(Some(string::decode(&text)))
            }
            _ => Mark::Plain,
        })
    }

    fn show_first(&mut self, operands: &[Object]) -> Result<(), Unreadable> {
        match operands.last() {
            Some(Object::Text(text)) => self.show(&text.clone()),
            _ => Ok(()),
        }
    }

    fn show_adjusted(&mut self, items: &Rc<[Object]>) -> Result<(), Unreadable> {
        for item in items.iter() {
            match item {
                Object::Text(text) => self.show(text)?,
                Object::Number(number) => self.graphics.text.adjust(*number),
                _ => {}
            }
        }
        Ok(())
    }

    fn show(&mut self, text: &[u8]) -> Result<(), Unreadable> {
        let Some(font) = self.graphics.text.font.clone() else { return Ok(()) };
        let mut rest = text;
        while let Some(glyph) = font.glyph(rest) {
            let code = &rest[..glyph.bytes];
            rest = &rest[glyph.bytes..];
            let Graphics { matrix, text: state } = &mut self.graphics;
            let placed = state.place(glyph.width, code == b" ", *matrix);
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
                Mark::Plain => None,
                Mark::Replaced(text) => Some(text.take().unwrap_or_default()),
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

pub(super) fn matrix_of(items: &[Object]) -> Option<Matrix> {
    let mut numbers = [0.0; 6];
    let items = &items[items.len().checked_sub(numbers.len())?..];
    for (number, item) in numbers.iter_mut().zip(items) {
        *number = item.number()?;
    }
    Some(Matrix::new(numbers))
}

/// Skips an inline image, which has no length and ends with `EI`.
fn skip_picture(lexer: &mut Lexer<'_>) {
    let rest = lexer.rest();
    let is_end = |at: &usize| {
        let before = at.checked_sub(1).and_then(|it| rest.get(it));
        let after = rest.get(at + 2);
        before.is_none_or(|it| is_space(*it)) && after.is_none_or(|it| is_space(*it))
    };
    let end = memchr::memmem::find_iter(rest, b"EI").find(is_end);
    lexer.move_to(lexer.at() + end.map_or(rest.len(), |end| end + 2));
}
