//! The weights of the built-in models: which files they consist of, where they lie, and how they
//! get there. Nothing here runs a model.

mod archive;
mod digest;
mod download;
mod entry;
mod error;
pub mod gguf;
mod manifest;
mod place;
mod progress;
mod puller;
mod registry;

pub use error::PullError;
pub use manifest::{EntryKind, FileSpec, Manifest, ModelFiles, Package, Part, Registry, manifest};
pub use place::{Missing, folder, installed, verified};
pub use progress::Progress;
pub use puller::{FindRegistries, Puller, Settings, State};
pub use registry::Registries;
