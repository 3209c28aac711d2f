//! Personas: their cards, what they put before a chat, and the ones that come with the service.
//!
//! Everything here takes values and returns values. Cards are those of the character card formats
//! V1, V2 and V3, as JSON, inside a PNG, or in an archive.

mod book;
mod card;
mod file;
mod persona;
mod png;
mod portrait;
mod shipped;
mod words;

pub use card::{Card, CardFault};
pub use file::{FILE_BYTES_MAX, Picture, read};
pub use persona::Persona;
pub use portrait::portrait;
pub use shipped::{Shipped, shipped};
pub use words::{SEARCH_TERMS_MAX, Term, anonymous, search_terms, slug, words};

#[cfg(test)]
mod tests;
