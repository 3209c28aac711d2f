//! llama.cpp's library, loaded at run time: bindings of its C interface, and safe types over them.
//!
//! The library is a downloaded file, like weights. `VERSION` is the required version; the bindings
//! are generated from that version's headers in `include`. All `unsafe` code for text models is in
//! this crate.

#[expect(
    unsafe_code,
    unreachable_pub,
    dead_code,
    non_camel_case_types,
    clippy::undocumented_unsafe_blocks,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    reason = "made by bindgen, which writes every function of the interface in one way"
)]
mod bindings;
mod context;
mod elf;
mod gpu;
mod interface;
mod library;
mod log;
mod model;

pub use context::{ContextSettings, DecodeError, LlamaContext, TokenBatch};
pub use gpu::{GpuBackend, GpuDevice};
pub use library::{LibraryError, LlamaLibrary, VERSION};
pub use model::{LlamaModel, ModelError};

/// A token id of the model's vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub i32);
