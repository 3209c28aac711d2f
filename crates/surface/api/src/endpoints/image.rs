//! Images: generate, edit, upscale and remove backgrounds.

pub(super) mod background_remove;
mod batch;
pub(super) mod edit;
mod finish;
pub(super) mod generate;
pub(super) mod multi_edit;
pub(super) mod openai;
mod plan;
pub(super) mod sent_image;
pub(super) mod styles;
pub(super) mod upscale;

/// Default model: the operator's choice.
const TRAIT_DEFAULT: &str = "default";
