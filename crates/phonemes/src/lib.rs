//! Converts English text to the phonemes of a speech model. Does no I/O: dictionaries are passed as
//! bytes, and the model for unknown words as a trait object.

mod alphabet;
mod context;
mod english;
mod lexicon;
mod normalize;
mod number;
mod packed;
mod pieces;
mod sentences;
mod stress;
mod tag;
mod tagger;
mod tokens;

pub use alphabet::ids;
pub use english::{English, Unknown};
pub use lexicon::{Accent, Lexicon};
pub use normalize::normalize;
pub use packed::Error;
pub use pieces::{first_clause, pieces};
pub use sentences::sentences;
pub use tagger::Tagger;
