//! The characters shipped with the service. All are our own and fictional.

use serde_json::Value;

use crate::card::{CardFault, CharacterCard};
use crate::portrait::draw_portrait;
use crate::search_text::to_slug;

const CARDS: &str = include_str!("../cards/shipped.json");

/// A character with its portrait.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltInCharacter {
    pub slug: String,
    pub card: CharacterCard,
    /// An SVG.
    pub portrait: String,
}

/// Returns all shipped characters, in the order of the file.
pub fn list_built_in_characters() -> Result<Vec<BuiltInCharacter>, CardFault> {
    let cards: Vec<Value> =
        serde_json::from_str(CARDS).map_err(|_| CardFault::Damaged("our own list"))?;
    let shipped = |card: Value| {
        let card = CharacterCard::from_json(card)?;
        let portrait = draw_portrait(&card.name);
        Ok(BuiltInCharacter { slug: to_slug(&card.name), card, portrait })
    };
    cards.into_iter().map(shipped).collect()
}
