//! Objects that are packed together in one stream.

use super::lexer::{Lexer, Token};
use super::object::Object;

/// Programs write some hundreds.
const OBJECTS_MAX: usize = 100_000;

pub(super) struct Packed {
    bytes: Vec<u8>,
    /// The number of each object, and where it begins.
    places: Vec<(u32, usize)>,
}

impl Packed {
    /// The numbers and places stand before the first object.
    pub(super) fn new(bytes: Vec<u8>, first: usize) -> Packed {
        let mut lexer = Lexer::new(&bytes, 0);
        let mut places = Vec::new();
        while lexer.at() < first && places.len() < OBJECTS_MAX {
            let (number, place) = (whole(lexer.token()), whole(lexer.token()));
            let (Some(number), Some(place)) = (number, place) else { break };
            let Some(place) = first.checked_add(place) else { break };
            let Ok(number) = u32::try_from(number) else { break };
            places.push((number, place));
        }
        Packed { bytes, places }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.places.iter().map(|(number, _)| *number)
    }

    /// The object, and how many bytes were looked at.
    pub(super) fn object(&self, number: u32, index: u32) -> (Option<Object>, usize) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let at_index = self.places.get(index).filter(|(found, _)| *found == number);
        let found = at_index.or_else(|| self.places.iter().find(|(found, _)| *found == number));
        let Some((_, place)) = found else { return (None, self.places.len()) };
        let mut lexer = Lexer::new(&self.bytes, *place);
        let start = lexer.at();
        let object = lexer.object().filter(|object| !matches!(object, Object::Stream(_)));
        (object, lexer.at() - start + self.places.len().min(64))
    }
}

fn whole(token: Option<Token<'_>>) -> Option<usize> {
    match token? {
        Token::Number(number) => Object::Number(number).index(),
        _ => None,
    }
}
