//! The model catalogue: models, their names, and their deprecation.
//!
//! A catalogue is built once from the operator's entries and never changes. A reload builds another
//! one; requests in progress keep the old one.

mod audio;
mod build;
mod choices;
mod image;
mod model;
mod named;
mod names;
mod prices;
mod privacy;
mod region;
mod resolve;
mod scoring;
mod suffix;
mod text;
mod video;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use moment::Timestamp;

pub use audio::{
    AsrSpec, AudioFileFormat, CloningMode, LyricsSupport, MusicDuration, MusicSpec, SpeedRange,
    TtsSpec, VoiceCloning,
};
pub use build::CatalogueFault;
pub use choices::ChoiceList;
pub use image::{ImageQuality, ImageSpec, InpaintSpec, StepLimits, StyleReferences, UpscaleSpec};
pub use model::{
    CatalogueModel, ContentPrivacy, ModelDeprecation, ModelRoute, ModelSpec, ModelSuccessor,
    ModelType, WorkflowFile,
};
pub use named::NamedVariants;
pub use names::MODEL_NAME_BYTES_MAX;
pub use region::CountryCode;
pub use resolve::{DeprecatedModel, ModelResolveError, ResolvedModel};
pub use scoring::{ModerationSpec, RerankSpec};
pub use suffix::{SuffixedName, split_suffix};
pub use text::{
    ChatField, EmbeddingSpec, ModelTier, ReasoningEffort, SamplingDefaults, TextCapability,
    TextSpec, WeightQuantization,
};
pub use video::{ReferenceImageLimits, VideoKind, VideoSpec};

use names::NameMeaning;

#[derive(Debug, Default)]
pub struct Catalogue {
    /// In the operator's order.
    models: Vec<Arc<CatalogueModel>>,
    /// Every name in folded form (see `folded`), with at most one meaning per model type.
    names: HashMap<String, Vec<NameMeaning>>,
}

/// The models that a listing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSelection {
    Type(ModelType),
    All,
    /// Text models that are optimized for code.
    Code,
}

impl ModelSelection {
    pub fn includes(self, model: &CatalogueModel) -> bool {
        match self {
            ModelSelection::Type(wanted) => model.model_type() == wanted,
            ModelSelection::All => true,
            ModelSelection::Code => model.is_optimized_for_code(),
        }
    }
}

impl Catalogue {
    /// The models that are not removed yet, in the operator's order.
    pub fn list(
        &self,
        selection: ModelSelection,
        now: Timestamp,
    ) -> impl Iterator<Item = &Arc<CatalogueModel>> {
        self.models.iter().filter(move |it| selection.includes(it) && !it.is_removed(now))
    }

    /// Maps each trait to the id of the model that has it.
    ///
    /// Models of several types can have the same trait. In a listing of all types the text model
    /// wins, because callers who name no type mean text.
    pub fn models_by_trait(
        &self,
        selection: ModelSelection,
        now: Timestamp,
    ) -> BTreeMap<&str, &str> {
        let mut found = BTreeMap::new();
        let is_text = |model: &&Arc<CatalogueModel>| model.model_type() == ModelType::Text;
        let (text, other): (Vec<_>, Vec<_>) =
            self.models.iter().filter(|it| selection.includes(it)).partition(is_text);
        for model in text.into_iter().chain(other) {
            let Ok(stand_in) = self.successor_of(model, now) else { continue };
            for name in &model.traits {
                found.entry(name.as_str()).or_insert(stand_in.id.as_str());
            }
        }
        found
    }

    /// Maps each alias of models of one type to the id of the model that answers.
    pub fn models_by_alias(&self, wanted: ModelType, now: Timestamp) -> BTreeMap<&str, &str> {
        let mut found = BTreeMap::new();
        for model in self.models.iter().filter(|it| it.model_type() == wanted) {
            let Ok(stand_in) = self.successor_of(model, now) else { continue };
            for alias in &model.aliases {
                found.insert(alias.as_str(), stand_in.id.as_str());
            }
        }
        found
    }

    /// The entry with exactly this id, removed or not.
    fn find_entry(&self, id: &str) -> Option<&Arc<CatalogueModel>> {
        self.models.iter().find(|it| it.id == id)
    }
}

#[cfg(test)]
mod tests;
