//! Models that are ONNX graphs, run on the CPU by the pinned ONNX Runtime library.

pub mod embedding;
mod runtime;
pub mod speech;
pub mod transcription;

pub use runtime::{Error, Runtime};
