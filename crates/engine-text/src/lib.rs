//! Text models from GGUF files through llama.cpp: templates, batching, sampling, constraints.

mod constraint;
mod conversation;
mod event;
mod idle_threads;
mod model;
mod outlet;
mod refusal;
mod request;
mod sampler;
mod scheduler;
mod template;
mod tools;
mod weights;
mod writer;

pub use llama::{Gpu, GpuPart, Library, LibraryError};

pub use event::{Event, Finish, Logprob, TokenLogprob, Usage};
pub use model::{CHOICES_MAX, Generation, LOGPROBS_MAX, TextModel};
pub use refusal::Refusal;
pub use request::{Chat, Format, Prompt, Request, Sampling, Tool, ToolChoice};
pub use weights::{LoadError, Settings, Weights};
