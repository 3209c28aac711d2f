//! Characters: their cards, their prompts, and the ones shipped with the service.
//!
//! All functions are pure. Cards are in the character card formats V1, V2 and V3, as JSON, inside a
//! PNG, or in an archive.

mod built_in;
mod card;
mod file;
mod lorebook;
mod persona;
mod png;
mod portrait;
mod search_text;

pub use built_in::{BuiltInCharacter, list_built_in_characters};
pub use card::{CardFault, CharacterCard};
pub use file::{CardPortrait, FILE_BYTES_MAX, read_card_file};
pub use persona::CharacterPrompts;
pub use portrait::draw_portrait;
pub use search_text::{
    SEARCH_TERMS_MAX, SearchTerm, anonymize_author, list_words, search_terms, to_slug,
};

#[cfg(test)]
mod tests;
