//! Characters: their cards, their prompts, and the ones shipped with the service.
//!
//! All functions are pure. Cards are in the character card formats V1, V2 and V3, as JSON, inside a
//! PNG, or in an archive.

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
