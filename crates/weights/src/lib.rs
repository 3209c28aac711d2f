//! The weights of the built-in models: which files they consist of, where they lie, and how they
//! get there. Nothing here runs a model.

mod manifest;
mod place;

pub use manifest::{FileSpec, Kind, Manifest, ModelFiles, Package, Part, Registry, manifest};
pub use place::{Missing, folder, installed};
