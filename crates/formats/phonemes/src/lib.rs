//! Converts English text to the phonemes of a speech model. Does no I/O: dictionaries are passed as
//! bytes, and the model for unknown words as a trait object.

mod alphabet;
mod compressed_json;
mod context;
mod english;
mod lexicon;
mod normalize;
mod number;
mod pieces;
mod sentences;
mod stress;
mod tag;
mod tagger;
mod tokens;

pub use alphabet::encode_phonemes;
pub use compressed_json::PronunciationDataError;
pub use english::{EnglishPronouncer, UnknownWordModel};
pub use lexicon::{EnglishAccent, PronunciationLexicon};
pub use normalize::normalize_text;
pub use pieces::{first_clause, split_phonemes};
pub use sentences::split_sentences;
pub use tagger::PosTagger;
