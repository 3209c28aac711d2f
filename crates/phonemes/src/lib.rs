//! From English text to the phonemes that a speech model reads. Values in, values out: the
//! dictionaries come in as bytes, and whoever has a model for unknown words passes it in.

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
