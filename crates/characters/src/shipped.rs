//! The characters shipped with the service. All are our own and fictional.

use serde_json::Value;

use crate::card::{Card, CardFault};
use crate::portrait::portrait;
use crate::words::slug;

const CARDS: &str = include_str!("../cards/shipped.json");

/// A character with its portrait.
#[derive(Debug, Clone, PartialEq)]
pub struct Shipped {
    pub slug: String,
    pub card: Card,
    /// An SVG.
    pub portrait: String,
}

/// Returns all shipped characters, in the order of the file.
pub fn shipped() -> Result<Vec<Shipped>, CardFault> {
    let cards: Vec<Value> =
        serde_json::from_str(CARDS).map_err(|_| CardFault::Damaged("our own list"))?;
    let shipped = |card: Value| {
        let card = Card::from_json(card)?;
        let portrait = portrait(&card.name);
        Ok(Shipped { slug: slug(&card.name), card, portrait })
    };
    cards.into_iter().map(shipped).collect()
}
