//! The engine interface: requests, events, usage and errors, without HTTP.
//!
//! An engine receives a request and reports what it produced and how many tokens that took. It
//! never sees a caller, a price or a balance, so the same trait serves a local model, an upstream
//! over HTTP, and a pool of several upstreams.
//!
//! - [`ChatRequest`] with its [`ChatMessage`]s, [`ChatTool`]s and [`SamplingParameters`]: chat input.
//! - [`NativeRequest`] and [`NativeEvent`]: the same in the protocol of the caller, passed through.
//! - [`ChatAnswer`], or a stream of [`ChatEvent`]s: chat output.
//! - [`EmbeddingRequest`] and [`EmbeddingAnswer`]: embeddings.
//! - [`RerankRequest`] and [`RerankAnswer`], [`ModerationRequest`] and [`ModerationAnswer`]:
//!   scores.
//! - [`ImageRequest`], [`EditRequest`], [`UpscaleRequest`], [`CutOutRequest`] and [`ImageAnswer`]:
//!   images; a [`ImageClassifier`] classifies them before they are returned.
//! - [`SpeechRequest`] and a [`SoundStream`], [`TranscriptionRequest`] and [`TranscriptionAnswer`]: audio.
//! - [`MediaEngine`]: music and videos, which are submitted, polled and downloaded.
//! - [`EngineUsage`]: the tokens that an engine reports; [`TokenEstimator`] estimates them otherwise.
//! - [`AttestedEngine`]: attestation reports and signatures of engines in enclaves.
//! - [`EngineError`]: the failures that callers of an engine distinguish.

mod answer;
mod attestation;
mod embedding;
mod engines;
mod error;
mod event;
mod media;
mod message;
mod moderation;
mod native;
mod picture;
mod request;
mod rerank;
mod speech;
mod tokens;
mod transcription;
mod usage;

pub use answer::{ChatAnswer, ChatChoice};
pub use attestation::{
    AttestedEngine, ChatEncryptionKeys, EnclaveAttestation, ExchangeSignature, SEAL_BYTES,
    plain_bytes,
};
pub use embedding::{EmbeddingAnswer, EmbeddingInput, EmbeddingRequest};
pub use engines::{
    ChatEngine, ChatStream, EmbeddingEngine, ImageClassifier, ImageEngine, ImageFuture,
    ModerationEngine, RerankEngine, SpeechEngine, TranscriptionEngine,
};
pub use error::{EngineError, TimeoutPhase};
pub use event::{ChatChunk, ChatEvent, ChoiceDelta, FinishReason, ServingProvider, ToolCallDelta};
pub use media::{
    ContentRefusal, KeyframeImage, MediaEngine, MediaFile, MediaProgress, MediaRequest,
    MediaStatus, MediaTicket, MusicRequest, VideoElement, VideoRequest,
};
pub use message::{
    AssistantTurn, CacheControl, ChatContent, ChatContentPart, ChatMessage, CompletionPrompt,
    PartKind, PromptText, ToolCall, marks_cache, marks_hour_cache,
};
pub use moderation::{
    ModerationAnswer, ModerationInput, ModerationPart, ModerationRequest, ModerationVerdict,
};
pub use native::{NativeEvent, NativeHeader, NativeProtocol, NativeRequest};
pub use picture::{
    CutOutRequest, EditRequest, ImageAnswer, ImageFile, ImageRequest, PictureSize,
    RequestedImageSize, StyleReference, UpscaleRequest,
};
pub use request::{
    ChatRequest, ChatResponseFormat, ChatTool, EffortLevel, LogprobParameters, ReasoningParameters,
    SamplingParameters, SessionId, ToolChoicePolicy, XSearch,
};
pub use rerank::{RerankAnswer, RerankRequest};
pub use speech::{SoundFormat, SoundStream, SpeechRequest, VoiceSample};
pub use tokens::{IMAGE_TOKENS, TokenEstimator, prompt_tokens, text_tokens};
pub use transcription::{
    FileKind, SegmentScores, TimestampOptions, TranscriptionAnswer, TranscriptionRequest,
    TranscriptionSegment, TranscriptionWord,
};
pub use usage::{EngineUsage, ImplausibleUsage, UsageReport};
