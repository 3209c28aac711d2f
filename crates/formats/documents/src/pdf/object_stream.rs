//! Object streams: several objects in one stream.

use super::lexer::{PdfLexer, PdfToken};
use super::object::PdfObject;

/// Cost of a value, in steps, besides its bytes.
const NODE_STEPS: usize = 16;

pub(super) struct ObjectStream {
    bytes: Vec<u8>,
    /// Number and offset of each object.
    places: Vec<(u32, usize)>,
}

impl ObjectStream {
    /// Parses the numbers and offsets, which precede the first object.
    pub(super) fn new(bytes: Vec<u8>, first: usize, objects_max: usize) -> ObjectStream {
        let mut lexer = PdfLexer::new(&bytes, 0);
        let mut places = Vec::new();
        while lexer.offset() < first && places.len() < objects_max {
            let (number, place) =
                (token_to_index(lexer.next_token()), token_to_index(lexer.next_token()));
            let (Some(number), Some(place)) = (number, place) else { break };
            let Some(place) = first.checked_add(place) else { break };
            let Ok(number) = u32::try_from(number) else { break };
            places.push((number, place));
        }
        ObjectStream { bytes, places }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.places.iter().map(|(number, _)| *number)
    }

    /// The object, and the steps it took to find it.
    pub(super) fn find_object(&self, number: u32, index: u32) -> (Option<PdfObject>, usize) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let at_index = self.places.get(index).filter(|(found, _)| *found == number);
        let (found, steps) = match at_index {
            Some(found) => (Some(found), 1),
            None => (self.places.iter().find(|(found, _)| *found == number), 1 + self.places.len()),
        };
        let Some((_, place)) = found else { return (None, steps) };
        let mut lexer = PdfLexer::new(&self.bytes, *place);
        let start = lexer.offset();
        let object = lexer.parse_object();
        (object, steps + lexer.offset() - start + NODE_STEPS * lexer.nodes())
    }
}

fn token_to_index(token: Option<PdfToken<'_>>) -> Option<usize> {
    match token? {
        PdfToken::Number(number) => PdfObject::Number(number).as_index(),
        _ => None,
    }
}
