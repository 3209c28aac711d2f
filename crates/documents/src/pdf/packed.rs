//! Object streams: several objects in one stream.

use super::lexer::{Lexer, Token};
use super::object::Object;

/// Cost of a value, in steps, besides its bytes.
const NODE_STEPS: usize = 16;

pub(super) struct Packed {
    bytes: Vec<u8>,
    /// Number and offset of each object.
    places: Vec<(u32, usize)>,
}

impl Packed {
    /// Parses the numbers and offsets, which precede the first object.
    pub(super) fn new(bytes: Vec<u8>, first: usize, objects_max: usize) -> Packed {
        let mut lexer = Lexer::new(&bytes, 0);
        let mut places = Vec::new();
        while lexer.at() < first && places.len() < objects_max {
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

    /// The object, and the steps it took to find it.
    pub(super) fn object(&self, number: u32, index: u32) -> (Option<Object>, usize) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let at_index = self.places.get(index).filter(|(found, _)| *found == number);
        let (found, steps) = match at_index {
            Some(found) => (Some(found), 1),
            None => (self.places.iter().find(|(found, _)| *found == number), 1 + self.places.len()),
        };
        let Some((_, place)) = found else { return (None, steps) };
        let mut lexer = Lexer::new(&self.bytes, *place);
        let start = lexer.at();
        let object = lexer.object();
        (object, steps + lexer.at() - start + NODE_STEPS * lexer.nodes())
    }
}

fn whole(token: Option<Token<'_>>) -> Option<usize> {
    match token? {
        Token::Number(number) => Object::Number(number).index(),
        _ => None,
    }
}
