//! `POST /audio/voices`: a recording in, a voice out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recording of a voice that a model is to speak with, as a form.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "VoiceCloneRequest")]
pub struct VoiceRequest {
    /// The recording, as a file of at most 25 MB. Which formats are taken, and how long it must be,
    /// is in the model's `voice_cloning`.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// A speech model that clones voices; the first of them unless said.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// A voice that can be used as `voice` with its model, by the account that made it, until it
/// expires.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClonedVoice {
    /// `vv_` and what tells it from others.
    pub id: String,
    pub model: String,
}
