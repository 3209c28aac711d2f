//! What the operator says: TOML, environment and flags, each value with its origin.
//!
//! [`sources::Sources::gather`] puts the layers into one tree, `read` turns the tree into a typed
//! [`read::Config`] or into every fault with its place. The tables in [`sections`] say what exists.

pub mod catalogue;
pub mod data_dir;
pub mod document;
pub mod environment;
pub mod fault;
mod include;
pub mod key;
pub mod node;
pub mod origin;
pub mod read;
pub mod reader;
mod scalar;
pub mod secret;
pub mod sections;
pub mod show;
pub mod sources;

#[cfg(test)]
mod tests;
