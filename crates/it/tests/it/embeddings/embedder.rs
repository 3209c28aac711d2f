//! An embedding engine that answers as a test tells it to.

use std::sync::Arc;

use api::engines::EngineSet;
use engine::{EmbeddingAnswer, EmbeddingEngine, EmbeddingInput, EmbeddingRequest, EngineError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use testkit::app::TestApp;

/// The fixture's embedding model.
pub(crate) const EMBEDDING_MODEL: &str = "text-embedding-bge-m3";

pub(crate) type Embedded = Result<EmbeddingAnswer, EngineError>;
type Script = dyn Fn(Arc<EmbeddingRequest>) -> BoxFuture<'static, Embedded> + Send + Sync;

/// Answers with what its script makes of the request.
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

    /// One that takes its time.
    pub(crate) fn slow(
        script: impl Fn(Arc<EmbeddingRequest>) -> BoxFuture<'static, Embedded> + Send + Sync + 'static,
    ) -> Embedder {
        Embedder { script: Box::new(script) }
    }

    /// One that gives each input the vector `[its position, half]` and reports no usage.
    pub(crate) fn counting() -> Embedder {
        Embedder::new(|request| {
            Ok(EmbeddingAnswer { vectors: positions(&request.input), usage: None })
        })
    }
}

/// A vector for each input, which tells its position.
pub(crate) fn positions(input: &EmbeddingInput) -> Vec<Vec<f32>> {
    let positions = (0_u16..).take(input.len());
    positions.map(|position| vec![f32::from(position), 0.5]).collect()
}

impl EmbeddingEngine for Embedder {
    fn embed(&self, request: Arc<EmbeddingRequest>) -> BoxFuture<'_, Embedded> {
        (self.script)(request)
    }
}

/// From here on this engine runs the fixture's embedding model, and no other model runs.
pub(crate) fn embed_with(app: &TestApp, embedder: Embedder) {
    let catalogue = app.app.catalogue.get();
    let found = catalogue.find(EMBEDDING_MODEL, app.app.clock.now()).unwrap();
    let mut engines = EngineSet::default();
    engines.add_embedding(found.model, Arc::new(embedder));
    app.app.engines.replace(engines);
}
