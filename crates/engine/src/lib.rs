//! The engine interface: requests, events, usage and errors, without HTTP.
//!
//! An engine receives a request and reports what it produced and how many tokens that took. It
//! never sees a caller, a price or a balance, so the same trait serves a local model, an upstream
//! over HTTP, and a pool of several upstreams.
//!
//! - [`ChatRequest`] with its [`Message`]s, [`Tool`]s and [`Sampling`]: chat input.
//! - [`ChatAnswer`], or a stream of [`ChatEvent`]s: chat output.
//! - [`EmbeddingRequest`] and [`EmbeddingAnswer`]: embeddings.
//! - [`ImageRequest`], [`EditRequest`], [`UpscaleRequest`], [`CutOutRequest`] and [`ImageAnswer`]:
//!   images; a [`PictureJudge`] classifies them before they are returned.
//! - [`SpeechRequest`] and a [`SoundStream`], [`TranscriptionRequest`] and [`Transcript`]: audio.
//! - [`MediaEngine`]: music and videos, which are submitted, polled and downloaded.
//! - [`Usage`]: the tokens that an engine reports; [`TokenMeter`] estimates them otherwise.
//! - [`AttestedEngine`]: attestation reports and signatures of engines in enclaves.
//! - [`EngineError`]: the failures that callers of an engine distinguish.

mod answer;
mod attested;
mod embedding;
mod engines;
mod error;
mod event;
mod media;
mod message;
mod picture;
mod request;
mod speech;
mod tokens;
mod transcription;
mod usage;

pub use answer::{ChatAnswer, Choice};
pub use attested::{Attestation, AttestedEngine, ExchangeSignature, SEAL_BYTES, Seal, plain_bytes};
pub use embedding::{EmbeddingAnswer, EmbeddingInput, EmbeddingRequest};
pub use engines::{
    ChatEngine, ChatStream, EmbeddingEngine, ImageEngine, ImageFuture, PictureJudge, SpeechEngine,
    TranscriptionEngine,
};
pub use error::{EngineError, Phase};
pub use event::{ChatChunk, ChatEvent, ChoiceDelta, FinishReason, Served, ToolCallDelta};
pub use media::{
    Advance, ContentRefusal, Keyframe, MediaEngine, MediaFile, MediaRequest, MusicRequest,
    Progress, Ticket, VideoElement, VideoRequest,
};
pub use message::{
    AssistantTurn, CacheControl, Content, Message, Part, PartKind, Prompt, PromptText, ToolCall,
    marks_cache, marks_hour_cache,
};
pub use picture::{
    CutOutRequest, EditRequest, Frame, ImageAnswer, ImageRequest, Picture, PictureSize,
    StyleReference, UpscaleRequest,
};
pub use request::{
    ChatRequest, Effort, Logprobs, Reasoning, ResponseFormat, Sampling, Tool, ToolChoice, XSearch,
};
pub use speech::{SoundFormat, SoundStream, SpeechRequest, VoiceSample};
pub use tokens::{TokenMeter, prompt_tokens, text_tokens};
pub use transcription::{
    Certainty, FileKind, Segment, Times, Transcript, TranscriptionRequest, Word,
};
pub use usage::{NotCredible, Usage, UsageReport};
