//! Tokenizes PDF objects and page contents.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::object::{PdfDict, PdfObject};

/// Maximum nesting of arrays and dictionaries.
const LEVELS_MAX: usize = 64;
/// Maximum values of one object. The widths of a font with all of Unicode need fewer.
const NODES_MAX: usize = 300_000;
/// Maximum values of one operand, such as an array of text fragments.
const OPERAND_NODES_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PdfToken<'a> {
    Number(f64),
    Name(Rc<[u8]>),
    Text(Rc<[u8]>),
    ArrayOpens,
    ArrayCloses,
    DictOpens,
    DictCloses,
    Word(&'a [u8]),
}

#[derive(Debug, Clone)]
pub(super) struct PdfLexer<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: usize,
    nodes_max: usize,
}

impl<'a> PdfLexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> PdfLexer<'a> {
        PdfLexer { bytes, at: at.min(bytes.len()), nodes: 0, nodes_max: NODES_MAX }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next token; `None` at the end.
    pub(super) fn next_token(&mut self) -> Option<PdfToken<'a>> {
        self.skip_space();
        let first = self.peek()?;
        Some(match first {
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.parse_number(),
            b'/' => self.parse_name(),
            b'(' => self.parse_text(),
            b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => {
                self.take_sign(2, PdfToken::DictOpens)
            }
            b'<' => self.parse_hex_text(),
            b'>' if self.bytes.get(self.at + 1) == Some(&b'>') => {
                self.take_sign(2, PdfToken::DictCloses)
            }
            b'[' => self.take_sign(1, PdfToken::ArrayOpens),
            b']' => self.take_sign(1, PdfToken::ArrayCloses),
            _ if is_delimiter(first) => {
                self.at += 1;
                PdfToken::Word(&self.bytes[self.at - 1..self.at])
            }
            _ => PdfToken::Word(self.take_regular()),
        })
    }

    /// The number of values of the last object.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Parses the next object of a file, where `12 0 R` is a reference.
    pub(super) fn parse_object(&mut self) -> Option<PdfObject> {
        (self.nodes, self.nodes_max) = (0, NODES_MAX);
        self.parse_value(0)
    }

    /// Parses the value that starts with a token of page content, which has no references.
    pub(super) fn value_from(&mut self, token: PdfToken<'a>) -> Option<PdfObject> {
        (self.nodes, self.nodes_max) = (0, OPERAND_NODES_MAX);
        self.value_of(token, 0)
    }

    fn parse_value(&mut self, level: usize) -> Option<PdfObject> {
        let token = self.next_token()?;
        if let PdfToken::Number(number) = token
            && let Some(object) = self.parse_reference(number)
        {
            return Some(object);
        }
        self.value_of(token, level)
    }

    fn value_of(&mut self, token: PdfToken<'a>, level: usize) -> Option<PdfObject> {
        self.nodes += 1;
        if self.nodes_max < self.nodes || LEVELS_MAX < level {
            return None;
        }
        Some(match token {
            PdfToken::Number(number) => PdfObject::Number(number),
            PdfToken::Name(name) => PdfObject::Name(name),
            PdfToken::Text(text) => PdfObject::Text(text),
            PdfToken::ArrayOpens => self.parse_array(level)?,
            PdfToken::DictOpens => PdfObject::Dict(self.parse_dict(level)?),
            PdfToken::Word(b"null") => PdfObject::Null,
            PdfToken::Word(b"true") => PdfObject::Bool(true),
            PdfToken::Word(b"false") => PdfObject::Bool(false),
            PdfToken::ArrayCloses | PdfToken::DictCloses | PdfToken::Word(_) => return None,
        })
    }

    fn parse_array(&mut self, level: usize) -> Option<PdfObject> {
        let mut items = Vec::new();
        loop {
            let before = self.at;
            match self.next_token()? {
                PdfToken::ArrayCloses => return Some(PdfObject::Array(items.into())),
                // The array was not closed before its container ended.
                PdfToken::DictCloses | PdfToken::Word(b"endobj" | b"endstream") => {
                    self.at = before;
                    return Some(PdfObject::Array(items.into()));
                }
                _ => {
                    self.at = before;
                    match self.parse_value(level + 1) {
                        Some(item) => items.push(item),
                        None if self.nodes <= self.nodes_max && level < LEVELS_MAX => {}
                        None => return None,
                    }
                }
            }
        }
    }

    fn parse_dict(&mut self, level: usize) -> Option<PdfDict> {
        let mut entries = BTreeMap::new();
        loop {
            let before = self.at;
            match self.next_token()? {
                PdfToken::DictCloses => return Some(PdfDict::new(entries)),
                PdfToken::Word(b"endobj" | b"stream") => {
                    self.at = before;
                    return Some(PdfDict::new(entries));
                }
                PdfToken::Name(key) => {
                    let before = self.at;
                    if self.next_token()? == PdfToken::DictCloses {
                        return Some(PdfDict::new(entries));
                    }
                    self.at = before;
                    match self.parse_value(level + 1) {
                        Some(value) => drop(entries.insert(key, value)),
                        None if self.nodes <= self.nodes_max && level < LEVELS_MAX => {}
                        None => return None,
                    }
                }
                _ => {}
            }
        }
    }

    /// Parses a reference such as `12 0 R`.
    fn parse_reference(&mut self, number: f64) -> Option<PdfObject> {
        let number = u32::try_from(PdfObject::Number(number).as_index()?).ok()?;
        let before = self.at;
        let generation = self.next_token();
        let is_reference = matches!(generation, Some(PdfToken::Number(_)))
            && self.next_token() == Some(PdfToken::Word(b"R"));
        if !is_reference {
            self.at = before;
            return None;
        }
        self.nodes += 1;
        Some(PdfObject::Ref(number))
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let end = memchr::memchr2(b'\n', b'\r', self.rest());
                self.at = end.map_or(self.bytes.len(), |end| self.at + end);
            } else if is_space(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take_sign(&mut self, length: usize, token: PdfToken<'a>) -> PdfToken<'a> {
        self.at += length;
        token
    }

    fn take_regular(&mut self) -> &'a [u8] {
        let length = self.rest().iter().position(|byte| !is_regular(*byte));
        let word = &self.rest()[..length.unwrap_or(self.rest().len())];
        self.at += word.len();
        word
    }

    /// Lenient like other readers: repeated signs are accepted, and text after the digits is
    /// dropped.
    fn parse_number(&mut self) -> PdfToken<'a> {
        let word = self.take_regular();
        let digits = word.iter().position(|byte| !matches!(byte, b'+' | b'-'));
        let Some(digits) = digits.map(|start| &word[start..]) else { return PdfToken::Number(0.0) };
        let (mut value, mut scale) = (0.0, None);
        for byte in digits {
            match (byte, &mut scale) {
                (b'0'..=b'9', None) => value = value * 10.0 + f64::from(byte - b'0'),
                (b'0'..=b'9', Some(scale)) => {
                    *scale /= 10.0;
                    value += f64::from(byte - b'0') * *scale;
                }
                (b'.', None) => scale = Some(1.0),
                _ => break,
            }
        }
        let is_sane = value < 1e18;
        let value = if is_sane { value } else { 0.0 };
        PdfToken::Number(if word[0] == b'-' { -value } else { value })
    }

    fn parse_name(&mut self) -> PdfToken<'a> {
        self.at += 1;
        let word = self.take_regular();
        if !word.contains(&b'#') {
            return PdfToken::Name(word.into());
        }
        let mut name = Vec::with_capacity(word.len());
        let mut rest = word;
        while let Some((first, after)) = rest.split_first() {
            let escaped = match (first, after) {
                (b'#', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
                _ => None,
            };
            name.push(escaped.map_or(*first, |(high, low)| high * 16 + low));
            rest = if escaped.is_some() { &after[2..] } else { after };
        }
        PdfToken::Name(name.into())
    }

    fn parse_text(&mut self) -> PdfToken<'a> {
        let mut text = Vec::new();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\\' => {
                    text.extend(self.parse_escape());
                    continue;
                }
                _ => {}
            }
            match (byte, open) {
                (_, 0) => break,
                (b'(', 1) => {}
                _ => text.push(byte),
            }
        }
        PdfToken::Text(text.into())
    }

    /// Parses an escape sequence after a backslash.
    fn parse_escape(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'\r' => {
                self.at += usize::from(self.peek() == Some(b'\n'));
                return None;
            }
            b'\n' => return None,
            b'0'..=b'7' => {
                let mut code = u16::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    code = code * 8 + u16::from(digit - b'0');
                    self.at += 1;
                }
                code.to_le_bytes()[0]
            }
            other => other,
        })
    }

    fn parse_hex_text(&mut self) -> PdfToken<'a> {
        self.at += 1;
        let end = memchr::memchr(b'>', self.rest()).unwrap_or(self.rest().len());
        let digits: Vec<u8> =
            self.rest()[..end].iter().filter_map(|byte| hex_digit(*byte)).collect();
        self.move_to(self.at + end + 1);
        let bytes = digits.chunks(2).map(|pair| pair[0] * 16 + pair.get(1).unwrap_or(&0));
        PdfToken::Text(bytes.collect())
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !is_delimiter(byte)
}
