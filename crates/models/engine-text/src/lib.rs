//! Text models from GGUF files through llama.cpp: templates, batching, sampling, constraints.

mod choice_generator;
mod constraint;
mod conversation;
mod event;
mod idle_threads;
mod model;
mod refusal;
mod request;
mod sampler;
mod scheduler;
mod stop_filter;
mod template;
mod tools;
mod weights;

pub use llama::{GpuBackend, GpuDevice, LibraryError, LlamaLibrary};

pub use event::{CandidateLogprob, ChoiceUsage, FinishCause, GenerationEvent, TokenLogprob};
pub use model::{CHOICES_MAX, LOGPROBS_MAX, TextGeneration, TextModel};
pub use refusal::TextRefusal;
pub use request::{
    ChatPrompt, GenerationFormat, PromptTool, SamplingSettings, TextPrompt, TextRequest,
    ToolCallPolicy,
};
pub use weights::{LoadError, ModelWeights, TextModelSettings};
