//! The catalogue: models by type, trait and compatible name.

mod anthropic;
pub(super) mod compatibility;
pub(super) mod get;
pub(super) mod list;
pub(super) mod record;
pub(super) mod traits;

use domain::catalogue::{ModelSelection, ModelType};
use wire::models as wire;

fn to_selection(filter: wire::ModelFilter) -> ModelSelection {
    match filter {
        wire::ModelFilter::All => ModelSelection::All,
        wire::ModelFilter::Code => ModelSelection::Code,
        wire::ModelFilter::Asr => ModelSelection::Type(ModelType::Asr),
        wire::ModelFilter::Embedding => ModelSelection::Type(ModelType::Embedding),
        wire::ModelFilter::Image => ModelSelection::Type(ModelType::Image),
        wire::ModelFilter::Music => ModelSelection::Type(ModelType::Music),
        wire::ModelFilter::Text => ModelSelection::Type(ModelType::Text),
        wire::ModelFilter::Tts => ModelSelection::Type(ModelType::Tts),
        wire::ModelFilter::Upscale => ModelSelection::Type(ModelType::Upscale),
        wire::ModelFilter::Inpaint => ModelSelection::Type(ModelType::Inpaint),
        wire::ModelFilter::Video => ModelSelection::Type(ModelType::Video),
        wire::ModelFilter::Rerank => ModelSelection::Type(ModelType::Rerank),
        wire::ModelFilter::Moderation => ModelSelection::Type(ModelType::Moderation),
    }
}
