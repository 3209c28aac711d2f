//! The traits that a local model, an upstream and a pool of upstreams all implement.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::{
    ChatAnswer, ChatEvent, ChatRequest, CutOutRequest, EditRequest, EmbeddingAnswer,
    EmbeddingRequest, EngineError, ImageAnswer, ImageFile, ImageRequest, ModerationAnswer,
    ModerationRequest, NativeProtocol, RerankAnswer, RerankRequest, SoundStream, SpeechRequest,
    TranscriptionAnswer, TranscriptionRequest, UpscaleRequest, VoiceSample,
};

/// The events of one completion as they are produced.
///
/// The stream ends with `None` only after every choice has finished. An interrupted completion ends
/// with an error, so a truncated one cannot be mistaken for a complete one. Nothing follows an
/// error. Dropping the stream cancels the work.
pub type ChatStream = BoxStream<'static, Result<ChatEvent, EngineError>>;

/// Runs chat completions with one model.
///
/// Requests are shared because a pool may pass the same request to several engines. Dropping a
/// returned future cancels the work.
pub trait ChatEngine: Send + Sync {
    /// Returns the complete answer.
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>>;

    /// Returns the answer as a stream. Resolves at the first event, so an error here means that
    /// nothing was produced and another engine may still be tried.
    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>>;

    /// The exact number of prompt tokens, from engines that can count without running the model.
    fn count_prompt(&self, _: Arc<ChatRequest>) -> BoxFuture<'_, Option<u64>> {
        Box::pin(std::future::ready(None))
    }

    /// Names of the request fields that this engine does not support and leaves out.
    fn dropped_fields(&self, _: &ChatRequest) -> Vec<String> {
        Vec::new()
    }

    /// True if the engine sends requests of this protocol unchanged, on all of its routes.
    fn passes_through(&self, _: NativeProtocol) -> bool {
        false
    }

    /// True if the engine supports text completion besides chat.
    fn supports_text_completion(&self) -> bool {
        true
    }

    /// True if work that may wait leaves enough of the engine's slots to other work.
    fn has_spare_slots(&self) -> bool {
        true
    }
}

/// Embeds texts with one model.
pub trait EmbeddingEngine: Send + Sync {
    fn embed(
        &self,
        request: Arc<EmbeddingRequest>,
    ) -> BoxFuture<'_, Result<EmbeddingAnswer, EngineError>>;

    /// The same as [`ChatEngine::has_spare_slots`].
    fn has_spare_slots(&self) -> bool {
        true
    }
}

/// Scores documents with one model.
pub trait RerankEngine: Send + Sync {
    fn rerank(
        &self,
        request: Arc<RerankRequest>,
    ) -> BoxFuture<'_, Result<RerankAnswer, EngineError>>;
}

/// Classifies content with one model.
pub trait ModerationEngine: Send + Sync {
    fn moderate(
        &self,
        request: Arc<ModerationRequest>,
    ) -> BoxFuture<'_, Result<ModerationAnswer, EngineError>>;
}

/// Synthesizes speech with one model.
pub trait SpeechEngine: Send + Sync {
    /// Resolves at the first bytes, so an error here means that nothing was produced and another
    /// engine may still be tried.
    fn synthesize(
        &self,
        request: Arc<SpeechRequest>,
    ) -> BoxFuture<'_, Result<SoundStream, EngineError>>;

    /// Clones a voice from a recording and returns the id to pass as `voice` from then on.
    fn clone_voice(&self, _: Arc<VoiceSample>) -> BoxFuture<'_, Result<String, EngineError>> {
        Box::pin(async { Err(unsupported_operation("clone voices")) })
    }
}

/// Transcribes recordings with one model.
pub trait TranscriptionEngine: Send + Sync {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<TranscriptionAnswer, EngineError>>;

    /// Transcribes speech of any language in English. `None` if the model cannot translate.
    fn translate(
        &self,
        _: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Option<TranscriptionAnswer>, EngineError>> {
        Box::pin(async { Ok(None) })
    }
}

/// The result of any image operation.
pub type ImageFuture<'a> = BoxFuture<'a, Result<ImageAnswer, EngineError>>;

/// Generates or edits images with one model.
///
/// The default of each method returns an error, because few engines support all of them.
pub trait ImageEngine: Send + Sync {
    fn generate(&self, _: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unsupported_operation("make pictures")) })
    }

    fn edit(&self, _: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unsupported_operation("edit pictures")) })
    }

    fn upscale(&self, _: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unsupported_operation("enlarge pictures")) })
    }

    fn cut_out(&self, _: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unsupported_operation("remove backgrounds")) })
    }

    /// True if image generation accepts style references.
    fn takes_style_references(&self) -> bool {
        false
    }

    /// True if dropping a returned future stops the engine at no cost. Otherwise the engine keeps
    /// working and charging, so it is better to wait for the result.
    fn can_be_stopped(&self) -> bool {
        false
    }
}

/// Classifies images before they are returned to the caller.
pub trait ImageClassifier: Send + Sync {
    /// The probability, from 0 to 1, that an image has adult content.
    fn adult_score(&self, picture: ImageFile) -> BoxFuture<'_, Result<f64, EngineError>>;
}

/// Returns the error for an operation that the engine's protocol lacks: a configuration error.
fn unsupported_operation(work: &str) -> EngineError {
    EngineError::Misconfigured { cause: format!("its protocol has no way to {work}") }
}
