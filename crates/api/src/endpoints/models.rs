//! The catalogue: models by type, trait and compatible name.

pub(super) mod compatibility;
pub(super) mod get;
pub(super) mod list;
pub(super) mod record;
pub(super) mod traits;

use domain::catalogue::{ModelType, Selection};
use wire::models as wire;

fn selection(filter: wire::ModelFilter) -> Selection {
    match filter {
        wire::ModelFilter::All => Selection::All,
        wire::ModelFilter::Code => Selection::Code,
        wire::ModelFilter::Asr => Selection::Type(ModelType::Asr),
        wire::ModelFilter::Embedding => Selection::Type(ModelType::Embedding),
        wire::ModelFilter::Image => Selection::Type(ModelType::Image),
        wire::ModelFilter::Music => Selection::Type(ModelType::Music),
        wire::ModelFilter::Text => Selection::Type(ModelType::Text),
        wire::ModelFilter::Tts => Selection::Type(ModelType::Tts),
        wire::ModelFilter::Upscale => Selection::Type(ModelType::Upscale),
        wire::ModelFilter::Inpaint => Selection::Type(ModelType::Inpaint),
        wire::ModelFilter::Video => Selection::Type(ModelType::Video),
    }
}
