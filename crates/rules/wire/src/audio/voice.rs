//! `POST /audio/voices`: clones a voice from a recording.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recording of a voice to clone, as multipart form data.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VoiceCloneRequest {
    /// The recording as a file of at most 25 MB. The model's `voice_cloning` lists the accepted
    /// formats and the minimum length.
    #[schemars(extend("format" = "binary", "x-required" = true))]
    pub file: Option<String>,
    /// A speech model that supports voice cloning. Default: the first such model.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// A cloned voice. The account that created it can send its id as `voice` to its model until it
/// expires.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClonedVoice {
    /// The id of the voice, which starts with `vv_`.
    pub id: String,
    pub model: String,
}
