//! The traits that a local model, an upstream and a pool of upstreams all implement.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::{
    ChatAnswer, ChatEvent, ChatRequest, EmbeddingAnswer, EmbeddingRequest, EngineError,
    SoundStream, SpeechRequest, Transcript, TranscriptionRequest,
};

/// The events of one answer as they are produced.
///
/// It ends with `None` only after every choice has finished; an answer that breaks off ends with
/// an error instead, so a short answer cannot be taken for a whole one. Nothing follows an error.
/// Dropping the stream stops the work.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, EngineError>>;

/// Something that answers chats with one model.
///
/// Requests are shared, because a pool may offer the same one to several engines. Dropping a
/// returned future stops the work.
pub trait ChatEngine: Send + Sync {
    /// The whole answer at once.
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>>;

    /// The answer as it is produced. This resolves when the first event is there, so an error
    /// here means that nothing was produced and another engine may still be asked.
    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>>;

    /// Whether it takes texts to go on with, beside conversations.
    fn continues_texts(&self) -> bool {
        true
    }
}

/// Something that turns texts into vectors with one model.
pub trait EmbeddingEngine: Send + Sync {
    fn embed(
        &self,
        request: Arc<EmbeddingRequest>,
    ) -> BoxFuture<'_, Result<EmbeddingAnswer, EngineError>>;
}

/// Something that speaks with one model.
pub trait SpeechEngine: Send + Sync {
    /// This resolves when the first bytes are there, so an error here means that nothing was
    /// produced and another engine may still be asked.
    fn speak(&self, request: Arc<SpeechRequest>)
    -> BoxFuture<'_, Result<SoundStream, EngineError>>;
}

/// Something that writes down what is said in a recording, with one model.
pub trait TranscriptionEngine: Send + Sync {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Transcript, EngineError>>;
}
