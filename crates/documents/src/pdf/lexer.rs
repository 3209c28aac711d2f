//! Tokenizes PDF objects and page contents.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::object::{Dict, Object};

/// Maximum nesting of arrays and dictionaries.
const LEVELS_MAX: usize = 64;
/// Maximum values of one object. The widths of a font with all of Unicode need fewer.
const NODES_MAX: usize = 300_000;
/// Maximum values of one operand, such as an array of text fragments.
const OPERAND_NODES_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
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
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: usize,
    nodes_max: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Lexer<'a> {
        Lexer { bytes, at: at.min(bytes.len()), nodes: 0, nodes_max: NODES_MAX }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next token; `None` at the end.
    pub(super) fn token(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let first = self.peek()?;
        Some(match first {
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'/' => self.name(),
            b'(' => self.text(),
            b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => self.sign(2, Token::DictOpens),
            b'<' => self.hex_text(),
            b'>' if self.bytes.get(self.at + 1) == Some(&b'>') => self.sign(2, Token::DictCloses),
            b'[' => self.sign(1, Token::ArrayOpens),
            b']' => self.sign(1, Token::ArrayCloses),
            _ if is_delimiter(first) => {
                self.at += 1;
                Token::Word(&self.bytes[self.at - 1..self.at])
            }
            _ => Token::Word(self.regular()),
        })
    }

    /// The number of values of the last object.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Parses the next object of a file, where `12 0 R` is a reference.
    pub(super) fn object(&mut self) -> Option<Object> {
        (self.nodes, self.nodes_max) = (0, NODES_MAX);
        self.value(0)
    }

    /// Parses the value that starts with a token of page content, which has no references.
    pub(super) fn value_from(&mut self, token: Token<'a>) -> Option<Object> {
        (self.nodes, self.nodes_max) = (0, OPERAND_NODES_MAX);
        self.value_of(token, 0)
    }

    fn value(&mut self, level: usize) -> Option<Object> {
        let token = self.token()?;
        if let Token::Number(number) = token
            && let Some(object) = self.reference(number)
        {
            return Some(object);
        }
        self.value_of(token, level)
    }

    fn value_of(&mut self, token: Token<'a>, level: usize) -> Option<Object> {
        self.nodes += 1;
        if self.nodes_max < self.nodes || LEVELS_MAX < level {
            return None;
        }
        Some(match token {
            Token::Number(number) => Object::Number(number),
            Token::Name(name) => Object::Name(name),
            Token::Text(text) => Object::Text(text),
            Token::ArrayOpens => self.array(level)?,
            Token::DictOpens => Object::Dict(self.dict(level)?),
            Token::Word(b"null") => Object::Null,
            Token::Word(b"true") => Object::Bool(true),
            Token::Word(b"false") => Object::Bool(false),
            Token::ArrayCloses | Token::DictCloses | Token::Word(_) => return None,
        })
    }

    fn array(&mut self, level: usize) -> Option<Object> {
        let mut items = Vec::new();
        loop {
            let before = self.at;
            match self.token()? {
                Token::ArrayCloses => return Some(Object::Array(items.into())),
                // The array was not closed before its container ended.
                Token::DictCloses | Token::Word(b"endobj" | b"endstream") => {
                    self.at = before;
                    return Some(Object::Array(items.into()));
                }
                _ => {
                    self.at = before;
                    match self.value(level + 1) {
                        Some(item) => items.push(item),
                        None if self.nodes <= self.nodes_max && level < LEVELS_MAX => {}
                        None => return None,
                    }
                }
            }
        }
    }

    fn dict(&mut self, level: usize) -> Option<Dict> {
        let mut entries = BTreeMap::new();
        loop {
            let before = self.at;
            match self.token()? {
                Token::DictCloses => return Some(Dict::new(entries)),
                Token::Word(b"endobj" | b"stream") => {
                    self.at = before;
                    return Some(Dict::new(entries));
                }
                Token::Name(key) => {
                    let before = self.at;
                    if self.token()? == Token::DictCloses {
                        return Some(Dict::new(entries));
                    }
                    self.at = before;
                    match self.value(level + 1) {
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
    fn reference(&mut self, number: f64) -> Option<Object> {
        let number = u32::try_from(Object::Number(number).index()?).ok()?;
        let before = self.at;
        let generation = self.token();
        let is_reference =
            matches!(generation, Some(Token::Number(_))) && self.token() == Some(Token::Word(b"R"));
        if !is_reference {
            self.at = before;
            return None;
        }
        self.nodes += 1;
        Some(Object::Ref(number))
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

    fn sign(&mut self, length: usize, token: Token<'a>) -> Token<'a> {
        self.at += length;
        token
    }

    fn regular(&mut self) -> &'a [u8] {
        let length = self.rest().iter().position(|byte| !is_regular(*byte));
        let word = &self.rest()[..length.unwrap_or(self.rest().len())];
        self.at += word.len();
        word
    }

    /// Lenient like other readers: repeated signs are accepted, and text after the digits is
    /// dropped.
    fn number(&mut self) -> Token<'a> {
        let word = self.regular();
        let digits = word.iter().position(|byte| !matches!(byte, b'+' | b'-'));
        let Some(digits) = digits.map(|start| &word[start..]) else { return Token::Number(0.0) };
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
        Token::Number(if word[0] == b'-' { -value } else { value })
    }

    fn name(&mut self) -> Token<'a> {
        self.at += 1;
        let word = self.regular();
        if !word.contains(&b'#') {
            return Token::Name(word.into());
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
        Token::Name(name.into())
    }

    fn text(&mut self) -> Token<'a> {
        let mut text = Vec::new();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\\' => {
                    text.extend(self.escaped());
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
        Token::Text(text.into())
    }

    /// Parses an escape sequence after a backslash.
    fn escaped(&mut self) -> Option<u8> {
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

    fn hex_text(&mut self) -> Token<'a> {
        self.at += 1;
        let end = memchr::memchr(b'>', self.rest()).unwrap_or(self.rest().len());
        let digits: Vec<u8> =
            self.rest()[..end].iter().filter_map(|byte| hex_digit(*byte)).collect();
        self.move_to(self.at + end + 1);
        let bytes = digits.chunks(2).map(|pair| pair[0] * 16 + pair.get(1).unwrap_or(&0));
        Token::Text(bytes.collect())
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
