//! The public JSON types of the service, named as in its specification.
//!
//! The types are in the order of the specification's tables, and their doc comments are published
//! as descriptions in the OpenAPI document. The schema derived from a request type is also used to
//! validate requests.

pub mod api_keys;
pub mod audio;
pub mod augment;
pub mod batches;
pub mod billing;
pub mod characters;
pub mod chat;
pub mod completions;
pub mod conversations;
pub mod crypto;
pub mod embeddings;
pub mod errors;
pub mod file_fields;
pub mod files;
pub mod images;
pub mod mcp;
pub mod mcp_servers;
pub mod messages;
pub mod models;
pub mod moderations;
mod number;
pub mod rerank;
pub mod responses;
pub mod secret_text;
pub mod tee;
pub mod video;
pub mod wallets;
pub mod x402;
