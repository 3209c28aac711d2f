//! The public JSON of the service, in the words of its specification.
//!
//! The types stand in the order of the specification's tables, and their doc comments are the
//! descriptions that the OpenAPI document publishes. The schema derived from a request type is
//! also the one that is enforced.

pub mod api_keys;
pub mod audio;
pub mod augment;
pub mod billing;
pub mod characters;
pub mod chat;
pub mod completions;
pub mod crypto;
pub mod embeddings;
pub mod errors;
pub mod images;
pub mod models;
mod number;
pub mod responses;
pub mod tee;
pub mod video;
pub mod wallets;
pub mod x402;
