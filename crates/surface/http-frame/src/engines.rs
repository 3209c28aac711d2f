//! Maps models to engines.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use domain::catalogue::CatalogueModel;
use engine::{
    AttestedEngine, ChatEngine, EmbeddingEngine, ImageClassifier, ImageEngine, MediaEngine,
    ModerationEngine, RerankEngine, SpeechEngine, TranscriptionEngine,
};
use tokio::sync::Semaphore;

use crate::metering_faults::MeteringFaults;
use crate::refusal::Refusal;
use crate::upstream_answer_ids::UpstreamAnswerIds;

/// The current engines, replaced as a whole by a reload. Work in progress keeps its engine.
pub struct CurrentEngines {
    current: RwLock<EngineSet>,
    /// Limits the answers that are read to their end after the client disconnected.
    pub(crate) drains: Semaphore,
    /// The enclaves' ids of their answers.
    pub answer_names: UpstreamAnswerIds,
    /// Token reports that could not be billed unchanged.
    pub metering_faults: MeteringFaults,
}

/// Each uses a connection to a provider, so the number is limited.
const DRAINS_MAX: usize = 64;

/// The engines of one catalogue, by model id.
#[derive(Default)]
pub struct EngineSet {
    chat: HashMap<String, Arc<dyn ChatEngine>>,
    embedding: HashMap<String, Arc<dyn EmbeddingEngine>>,
    rerank: HashMap<String, Arc<dyn RerankEngine>>,
    moderation: HashMap<String, Arc<dyn ModerationEngine>>,
    attested: HashMap<String, Vec<Arc<dyn AttestedEngine>>>,
    speech: HashMap<String, Arc<dyn SpeechEngine>>,
    transcription: HashMap<String, Arc<dyn TranscriptionEngine>>,
    media: HashMap<String, Arc<dyn MediaEngine>>,
    images: HashMap<String, Arc<dyn ImageEngine>>,
    judge: Option<Arc<dyn ImageClassifier>>,
}

impl CurrentEngines {
    pub fn new(engines: EngineSet) -> CurrentEngines {
        CurrentEngines {
            current: RwLock::new(engines),
            drains: Semaphore::new(DRAINS_MAX),
            answer_names: UpstreamAnswerIds::default(),
            metering_faults: MeteringFaults::default(),
        }
    }

    pub fn replace(&self, engines: EngineSet) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = engines;
    }

    pub fn chat(&self, model: &CatalogueModel) -> Result<Arc<dyn ChatEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.chat.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    pub fn embedding(&self, model: &CatalogueModel) -> Result<Arc<dyn EmbeddingEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.embedding.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    pub fn rerank(&self, model: &CatalogueModel) -> Result<Arc<dyn RerankEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.rerank.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    pub fn moderation(&self, model: &CatalogueModel) -> Result<Arc<dyn ModerationEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.moderation.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    pub fn speech(&self, model: &CatalogueModel) -> Result<Arc<dyn SpeechEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.speech.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    pub fn transcription(
        &self,
        model: &CatalogueModel,
    ) -> Result<Arc<dyn TranscriptionEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.transcription.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }
}

impl CurrentEngines {
    /// True if work that may wait leaves enough of the model's slots to other work.
    pub(crate) fn has_spare_slots(&self, model: &CatalogueModel) -> bool {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let chat = current.chat.get(&model.id).is_none_or(|engine| engine.has_spare_slots());
        let embedding = current.embedding.get(&model.id);
        chat && embedding.is_none_or(|engine| engine.has_spare_slots())
    }

    pub fn media(&self, model: &CatalogueModel) -> Result<Arc<dyn MediaEngine>, Refusal> {
        self.media_engine(&model.id).ok_or_else(|| without_engine(model))
    }

    /// The engine for music or videos of a model, if there is one.
    pub fn media_engine(&self, model: &str) -> Option<Arc<dyn MediaEngine>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.media.get(model).cloned()
    }

    pub fn images(&self, model: &CatalogueModel) -> Result<Arc<dyn ImageEngine>, Refusal> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.images.get(&model.id).cloned().ok_or_else(|| without_engine(model))
    }

    /// The classifier for adult content, if there is one.
    pub fn image_classifier(&self) -> Option<Arc<dyn ImageClassifier>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.judge.clone()
    }

    /// The engines that can attest a model, one per route; empty for ordinary models.
    pub fn attested_engines(&self, model: &CatalogueModel) -> Vec<Arc<dyn AttestedEngine>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.attested.get(&model.id).cloned().unwrap_or_default()
    }
}

impl Default for CurrentEngines {
    fn default() -> CurrentEngines {
        CurrentEngines::new(EngineSet::default())
    }
}

impl EngineSet {
    pub fn add_chat(&mut self, model: &CatalogueModel, engine: Arc<dyn ChatEngine>) {
        self.chat.insert(model.id.clone(), engine);
    }

    pub fn add_embedding(&mut self, model: &CatalogueModel, engine: Arc<dyn EmbeddingEngine>) {
        self.embedding.insert(model.id.clone(), engine);
    }

    pub fn add_rerank(&mut self, model: &CatalogueModel, engine: Arc<dyn RerankEngine>) {
        self.rerank.insert(model.id.clone(), engine);
    }

    pub fn add_moderation(&mut self, model: &CatalogueModel, engine: Arc<dyn ModerationEngine>) {
        self.moderation.insert(model.id.clone(), engine);
    }

    pub fn add_speech(&mut self, model: &CatalogueModel, engine: Arc<dyn SpeechEngine>) {
        self.speech.insert(model.id.clone(), engine);
    }

    pub fn add_transcription(
        &mut self,
        model: &CatalogueModel,
        engine: Arc<dyn TranscriptionEngine>,
    ) {
        self.transcription.insert(model.id.clone(), engine);
    }
}

impl EngineSet {
    pub fn add_media(&mut self, model: &CatalogueModel, engine: Arc<dyn MediaEngine>) {
        self.media.insert(model.id.clone(), engine);
    }

    pub fn add_images(&mut self, model: &CatalogueModel, engine: Arc<dyn ImageEngine>) {
        self.images.insert(model.id.clone(), engine);
    }

    pub fn set_image_classifier(&mut self, judge: Arc<dyn ImageClassifier>) {
        self.judge = Some(judge);
    }

    pub fn add_attested(&mut self, model: &CatalogueModel, engines: Vec<Arc<dyn AttestedEngine>>) {
        self.attested.insert(model.id.clone(), engines);
    }
}

/// The refusal if no provider of the model supports this kind of work.
fn without_engine(model: &CatalogueModel) -> Refusal {
    tracing::warn!(model.id, "no provider of {} can run it", model.id);
    Refusal::model_offline(
        "The model is temporarily offline. Please try again later or use another model.",
    )
}
