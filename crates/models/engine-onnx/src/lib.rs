//! Models that are ONNX graphs, run on the CPU by the pinned ONNX Runtime library.

pub mod embedding;
mod noise;
mod onnx_file;
pub mod pictor;
mod runtime;
pub mod speech;
mod tensors;
pub mod tools;
pub mod transcription;

pub use runtime::{OnnxRuntime, RuntimeError};
