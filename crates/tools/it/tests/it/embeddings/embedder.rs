//! A scripted embedding engine.

use std::sync::Arc;

use engine::{EmbeddingAnswer, EmbeddingEngine, EmbeddingInput, EmbeddingRequest, EngineError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_frame::engines::EngineSet;
use testkit::app::TestApp;

/// The fixture's embedding model.
pub(crate) const EMBEDDING_MODEL: &str = "text-embedding-bge-m3";

pub(crate) type Embedded = Result<EmbeddingAnswer, EngineError>;
type Script = dyn Fn(Arc<EmbeddingRequest>) -> BoxFuture<'static, Embedded> + Send + Sync;

/// Answers with the result of its script.
pub(crate) struct Embedder {
    script: Box<Script>,
}

impl Embedder {
    pub(crate) fn new(
        script: impl Fn(&EmbeddingRequest) -> Embedded + Send + Sync + 'static,
    ) -> Embedder {
        let script =
            move |request: Arc<EmbeddingRequest>| std::future::ready(script(&request)).boxed();
        Embedder { script: Box::new(script) }
    }

    /// An engine with an asynchronous script.
    pub(crate) fn slow(
        script: impl Fn(Arc<EmbeddingRequest>) -> BoxFuture<'static, Embedded> + Send + Sync + 'static,
    ) -> Embedder {
        Embedder { script: Box::new(script) }
    }

    /// An engine that gives each input the vector `[its position, half]` and reports no usage.
    pub(crate) fn counting() -> Embedder {
        Embedder::new(|request| {
            Ok(EmbeddingAnswer { vectors: positions(&request.input), usage: None })
        })
    }
}

/// A vector for each input, which contains its position.
pub(crate) fn positions(input: &EmbeddingInput) -> Vec<Vec<f32>> {
    let positions = (0_u16..).take(input.len());
    positions.map(|position| vec![f32::from(position), 0.5]).collect()
}

impl EmbeddingEngine for Embedder {
    fn embed(&self, request: Arc<EmbeddingRequest>) -> BoxFuture<'_, Embedded> {
        (self.script)(request)
    }
}

/// Makes this engine run the fixture's embedding model, and removes all other engines.
pub(crate) fn embed_with(app: &TestApp, embedder: Embedder) {
    let catalogue = app.app.catalogue.get();
    let found = catalogue.find_model(EMBEDDING_MODEL, app.app.clock.now()).unwrap();
    let mut engines = EngineSet::default();
    engines.add_embedding(found.model, Arc::new(embedder));
    app.app.engines.replace(engines);
}
