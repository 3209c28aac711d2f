//! Queued music: quoted, queued, retrieved, completed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A piece of music to be made.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AudioQueueRequest {
    /// A music model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// What it should be, in words; the model says how many characters it takes.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// What is sung, for models with `supports_lyrics`; required by models with `lyrics_required`.
    pub lyrics_prompt: Option<String>,
    /// How long it should be, for models with lengths to choose from.
    pub duration_seconds: Option<DurationSeconds>,
    /// No singing, for models with `supports_force_instrumental`.
    pub force_instrumental: Option<bool>,
    /// The model writes the lyrics, for models with `supports_lyrics_optimizer`; `lyrics_prompt`
    /// must be empty then.
    pub lyrics_optimizer: Option<bool>,
    /// One of the model's voices.
    #[schemars(length(min = 1, max = 256))]
    pub voice: Option<String>,
    /// ISO 639-1, for models with `supports_language_code`.
    #[schemars(regex(pattern = r"^[a-z]{2}$"))]
    pub language_code: Option<String>,
    /// For models with `supports_speed`, between their `min_speed` and `max_speed`.
    #[schemars(range(min = 0.25, max = 4))]
    pub speed: Option<f64>,
    /// The end leads into the beginning, for models with `supports_loop`.
    #[serde(rename = "loop")]
    pub is_loop: Option<bool>,
}

/// Whole seconds, as a number or as text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DurationSeconds {
    Number(#[schemars(range(min = 1))] u64),
    Text(#[schemars(regex(pattern = r"^\d{1,9}$"))] String),
}

impl DurationSeconds {
    /// None for text that is no number above zero.
    pub fn seconds(&self) -> Option<u64> {
        let seconds = match self {
            DurationSeconds::Number(seconds) => Some(*seconds),
            DurationSeconds::Text(text) => text.parse().ok(),
        };
        seconds.filter(|it| 0 < *it)
    }
}

/// A piece that was queued.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AudioQueued {
    pub model: String,
    pub queue_id: String,
    /// Always `QUEUED`.
    pub status: QueuedStatus,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum QueuedStatus {
    Queued,
}

/// What a piece would cost.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AudioQuoteRequest {
    /// A music model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// How long it should be, for models with lengths to choose from.
    pub duration_seconds: Option<DurationSeconds>,
    /// Of prompt and lyrics together; required by models with a price per thousand characters.
    #[schemars(range(min = 1))]
    pub character_count: Option<u64>,
}

/// What it would cost, in US dollars.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Quote {
    pub quote: f64,
}

/// Which job to retrieve.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RetrieveRequest {
    /// The model that the job was queued for.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1, max = 64))]
    pub queue_id: String,
    /// Deletes what was made once it was sent to its end; false unless said.
    #[schemars(extend("default" = false))]
    pub delete_media_on_completion: Option<bool>,
}

/// A job that is not done, or whose result is fetched from its link.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InProgress {
    pub status: ProgressStatus,
    /// Within which four of five jobs of the model are done, in milliseconds.
    pub average_execution_time: u64,
    /// How long this one has taken, in milliseconds.
    pub execution_duration: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProgressStatus {
    Processing,
    Completed,
}

/// Which job's media to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CompleteRequest {
    /// The model that the job was queued for.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1, max = 64))]
    pub queue_id: String,
}

/// Whether the media is gone; if not, it is still being deleted, and can be asked for again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Completed {
    pub success: bool,
}
