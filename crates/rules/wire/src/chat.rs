//! `POST /chat/completions`: the request, the response and its stream chunks.

mod chunk;
mod completion;
mod error;
mod message;
mod parameters;
mod request;
mod tool;
mod usage;

pub use chunk::{ChatChunk, ChunkChoice, ChunkDelta, ChunkFunction, ChunkToolCall};
pub use completion::{
    Annotation, AnswerText, ChatCompletion, ChatCompletionChoice, CompletionMessage,
    CompletionRole, CompletionToolCall, FinishReason, Logprobs, StopReason, TokenLogprob,
    TopLogprob, UrlCitation,
};
pub use error::{InferenceError, InferenceFault, InferenceRejection, SealError, SealFault};
pub use message::{
    AudioFormat, CacheControl, CacheKind, ContentPart, FileData, FilePart, ImageUrl, InputAudio,
    MediaUrl, Message, MessageContent, MessageToolCall, ReasoningDetail, TextPart,
};
pub use parameters::{EffectiveParameters, SearchMode, ServiceParameters, WebSearchCitation};
pub use request::{
    ChatCompletionRequest, Effort, Fallback, ReasoningOptions, ReasoningSummary, Retention, Stop,
    StreamOptions, TextOptions, Verbosity,
};
pub use tool::{
    CalledFunction, Function, FunctionChoice, FunctionName, JsonSchemaFormat, ResponseFormat, Tool,
    ToolChoice, ToolChoiceMode, ToolKind,
};
pub use usage::{CompletionTokensDetails, Cost, PromptTokensDetails, TokenUsage};
