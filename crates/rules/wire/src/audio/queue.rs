//! Queued music: quote, queue, retrieve, complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A piece of music to generate.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AudioQueueRequest {
    /// A music model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A description of the music. The maximum length depends on the model.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// The lyrics, for models with `supports_lyrics`. Required by models with `lyrics_required`.
    pub lyrics_prompt: Option<String>,
    /// The length in seconds, for models with a choice of lengths.
    pub duration_seconds: Option<DurationSeconds>,
    /// Generates music without vocals, for models with `supports_force_instrumental`.
    pub force_instrumental: Option<bool>,
    /// Lets the model write the lyrics, for models with `supports_lyrics_optimizer`.
    /// `lyrics_prompt` must then be empty.
    pub lyrics_optimizer: Option<bool>,
    /// One of the model's voices.
    #[schemars(length(min = 1, max = 256))]
    pub voice: Option<String>,
    /// The language of the lyrics as an ISO 639-1 code, for models with `supports_language_code`.
    #[schemars(regex(pattern = r"^[a-z]{2}$"))]
    pub language_code: Option<String>,
    /// The speed, for models with `supports_speed`, between their `min_speed` and `max_speed`.
    #[schemars(range(min = 0.25, max = 4))]
    pub speed: Option<f64>,
    /// Generates music that can be looped seamlessly, for models with `supports_loop`.
    #[serde(rename = "loop")]
    pub is_loop: Option<bool>,
}

/// Whole seconds, as a number or as a string of digits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DurationSeconds {
    Number(#[schemars(range(min = 1))] u64),
    Text(#[schemars(regex(pattern = r"^\d{1,9}$"))] String),
}

impl DurationSeconds {
    /// Returns the seconds; None for zero, and for text that is not a number.
    pub fn seconds(&self) -> Option<u64> {
        let seconds = match self {
            DurationSeconds::Number(seconds) => Some(*seconds),
            DurationSeconds::Text(text) => text.parse().ok(),
        };
        seconds.filter(|it| 0 < *it)
    }
}

/// A queued music job.
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

/// The parameters that determine the price of a piece of music.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AudioQuoteRequest {
    /// A music model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The length in seconds, for models with a choice of lengths.
    pub duration_seconds: Option<DurationSeconds>,
    /// The number of characters of prompt and lyrics together. Required by models with a price per
    /// thousand characters.
    #[schemars(range(min = 1))]
    pub character_count: Option<u64>,
}

/// The price of a job in US dollars.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Quote {
    pub quote: f64,
}

/// The job to retrieve.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RetrieveRequest {
    /// The model that the job was queued for.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1, max = 64))]
    pub queue_id: String,
    /// Deletes the media after it has been sent completely. Default: false.
    #[schemars(extend("default" = false))]
    pub delete_media_on_completion: Option<bool>,
}

/// A job that is still running, or a completed one whose result is downloaded from its link.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InProgress {
    pub status: ProgressStatus,
    /// The 80th percentile of the execution times of the model's recent jobs, in milliseconds.
    pub average_execution_time: u64,
    /// The execution time of this job so far, in milliseconds.
    pub execution_duration: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProgressStatus {
    Processing,
    Completed,
}

/// The job whose media is to be deleted.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CompleteRequest {
    /// The model that the job was queued for.
    #[schemars(length(min = 1))]
    pub model: String,
    #[schemars(length(min = 1, max = 64))]
    pub queue_id: String,
}

/// The result of a deletion: false if the media is still being deleted. The request can be
/// repeated.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Completed {
    pub success: bool,
}
