//! The weights of the built-in models: their files, sources, locations and downloads. Does not run
//! models.

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
