//! Images: generate, edit, upscale and remove backgrounds.

pub(super) mod cut_out;
pub(super) mod edit;
mod finish;
pub(super) mod generate;
pub(super) mod multi_edit;
pub(super) mod openai;
mod painted;
mod plan;
pub(super) mod sent_picture;
pub(super) mod styles;
pub(super) mod upscale;

/// Default model: the operator's choice.
const TRAIT_DEFAULT: &str = "default";
