//! What an engine is: requests, events, usage and failures, without HTTP.
//!
//! An engine gets a request and reports what it produced and how many tokens that took. It never
//! sees a caller, a price or a balance, so the same trait serves a local model, an upstream over
//! HTTP, and several of them behind one pool.
//!
//! - [`ChatRequest`] with its [`Message`]s, [`Tool`]s and [`Sampling`]: what is asked.
//! - [`ChatAnswer`], or a stream of [`ChatEvent`]s: what comes back.
//! - [`EmbeddingRequest`] and [`EmbeddingAnswer`]: the same for vectors.
//! - [`ImageRequest`], [`EditRequest`], [`UpscaleRequest`], [`CutOutRequest`] and [`ImageAnswer`]:
//!   for pictures; a [`PictureJudge`] looks at them before they are shown.
//! - [`SpeechRequest`] and a [`SoundStream`], [`TranscriptionRequest`] and [`Transcript`]: for sound.
//! - [`MediaEngine`]: music and videos, which are handed in and fetched later.
//! - [`Usage`]: the tokens an engine says it used; [`TokenMeter`] counts when it does not say.
//! - [`AttestedEngine`]: what engines in sealed hardware can do besides.
//! - [`EngineError`]: the failures that somebody branches on.

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
