//! Work with one whole answer: embeddings, reranking, moderation and transcription.

use std::sync::Arc;

use engine::{
    EmbeddingAnswer, EmbeddingEngine, EmbeddingRequest, EngineError, ModerationAnswer,
    ModerationEngine, ModerationRequest, RerankAnswer, RerankEngine, RerankRequest,
    TranscriptionAnswer, TranscriptionEngine, TranscriptionRequest,
};
use futures_util::future::BoxFuture;

use super::RoutePool;

impl<E: ?Sized> RoutePool<E> {
    /// Tries routes until one answers.
    async fn run_whole<'a, T, F>(&'a self, call: impl Fn(&'a E) -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>> + 'a,
    {
        let (answer, lease) = self.try_routes(call).await?;
        lease.succeed();
        Ok(answer)
    }
}

impl EmbeddingEngine for RoutePool<dyn EmbeddingEngine> {
    fn embed(
        &self,
        request: Arc<EmbeddingRequest>,
    ) -> BoxFuture<'_, Result<EmbeddingAnswer, EngineError>> {
        Box::pin(self.run_whole(move |it| it.embed(Arc::clone(&request))))
    }

    fn has_spare_slots(&self) -> bool {
        self.has_spare_route()
    }
}

impl RerankEngine for RoutePool<dyn RerankEngine> {
    fn rerank(
        &self,
        request: Arc<RerankRequest>,
    ) -> BoxFuture<'_, Result<RerankAnswer, EngineError>> {
        Box::pin(self.run_whole(move |it| it.rerank(Arc::clone(&request))))
    }
}

impl ModerationEngine for RoutePool<dyn ModerationEngine> {
    fn moderate(
        &self,
        request: Arc<ModerationRequest>,
    ) -> BoxFuture<'_, Result<ModerationAnswer, EngineError>> {
        Box::pin(self.run_whole(move |it| it.moderate(Arc::clone(&request))))
    }
}

impl TranscriptionEngine for RoutePool<dyn TranscriptionEngine> {
    fn transcribe(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<TranscriptionAnswer, EngineError>> {
        Box::pin(self.run_whole(move |it| it.transcribe(Arc::clone(&request))))
    }

    fn translate(
        &self,
        request: Arc<TranscriptionRequest>,
    ) -> BoxFuture<'_, Result<Option<TranscriptionAnswer>, EngineError>> {
        Box::pin(self.run_whole(move |it| it.translate(Arc::clone(&request))))
    }
}
