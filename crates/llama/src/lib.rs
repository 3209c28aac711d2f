//! llama.cpp's library, loaded at run time: bindings of its C interface, and safe types over them.
//!
//! The library is a file, as weights are. Which version it must be is in `VERSION`, and the bindings
//! are made from that version's headers in `include`. Everything `unsafe` of text models is here.

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

pub use context::{Batch, Context, ContextSettings, DecodeError};
pub use gpu::{Gpu, GpuPart};
pub use library::{Library, LibraryError, VERSION};
pub use model::{Model, ModelError};

/// A token's number in its model's vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i32);
