//! The traits that a local model, an upstream and a pool of upstreams all implement.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::{
    ChatAnswer, ChatEvent, ChatRequest, CutOutRequest, EditRequest, EmbeddingAnswer,
    EmbeddingRequest, EngineError, ImageAnswer, ImageRequest, Picture, SoundStream, SpeechRequest,
    Transcript, TranscriptionRequest, UpscaleRequest, VoiceSample,
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

    /// The fields of a request that it cannot honour and leaves out, by their public names.
    fn dropped(&self, _: &ChatRequest) -> Vec<String> {
        Vec::new()
    }

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

    /// Learns a voice from a recording, and gives the name under which it can speak from then on.
    fn clone_voice(&self, _: Arc<VoiceSample>) -> BoxFuture<'_, Result<String, EngineError>> {
        Box::pin(async { Err(unable("clone voices")) })
    }
}

/// Something that writes down what is said in a recording, with one model.
pub trait TranscriptionEngine: Send + Sync {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Transcript, EngineError>>;
}

/// What one kind of work gives.
pub type ImageFuture<'a> = BoxFuture<'a, Result<ImageAnswer, EngineError>>;

/// Something that makes or changes pictures with one model.
///
/// Few engines can do all of it; what one cannot do it says when it is asked.
pub trait ImageEngine: Send + Sync {
    fn generate(&self, _: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unable("make pictures")) })
    }

    fn edit(&self, _: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unable("edit pictures")) })
    }

    fn upscale(&self, _: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unable("enlarge pictures")) })
    }

    fn cut_out(&self, _: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async { Err(unable("remove backgrounds")) })
    }

    /// Whether a picture that is to be made may have the style of others.
    fn takes_style_references(&self) -> bool {
        false
    }

    /// Whether the engine itself stops, at no cost, when a returned future is dropped. Where it
    /// goes on working, and charging, what it makes is better waited for.
    fn can_be_stopped(&self) -> bool {
        false
    }
}

/// Something that looks at pictures before they are shown.
pub trait PictureJudge: Send + Sync {
    /// How likely a picture is for adults, from 0 to 1.
    fn adult_score(&self, picture: Picture) -> BoxFuture<'_, Result<f64, EngineError>>;
}

/// An engine is asked for what its protocol has no words for: a matter of the configuration.
fn unable(work: &str) -> EngineError {
    EngineError::Misconfigured { cause: format!("its protocol has no way to {work}") }
}
