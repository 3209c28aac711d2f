//! Configuration from TOML, environment and flags. Each value keeps its origin.
//!
//! [`sources::ConfigSources::gather`] merges the layers into one tree; `read` converts the tree into a
//! typed [`read::ServiceConfig`], or into all faults with their origins. The tables in [`sections`]
//! declare the keys.

pub mod catalogue;
pub mod data_dir;
pub mod document;
pub mod environment;
pub mod fault;
mod include;
pub mod key;
mod key_type;
pub mod node;
pub mod origin;
pub mod read;
pub mod reader;
mod scalar;
pub mod secret;
mod section_table;
pub mod sections;
pub mod show;
pub mod sources;

#[cfg(test)]
mod tests;
