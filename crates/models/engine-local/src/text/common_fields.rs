//! Request fields common to both endpoints.

use engine_text::SamplingSettings;
use serde::Deserialize;

use crate::entropy;

/// Sampling and stop parameters.
#[derive(Debug, Deserialize, Default)]
pub(super) struct CommonFields {
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f32>,
    pub(super) min_temp: Option<f32>,
    pub(super) max_temp: Option<f32>,
    pub(super) top_k: Option<u32>,
    pub(super) top_p: Option<f32>,
    pub(super) min_p: Option<f32>,
    pub(super) repetition_penalty: Option<f32>,
    pub(super) presence_penalty: Option<f32>,
    pub(super) frequency_penalty: Option<f32>,
    pub(super) seed: Option<i64>,
    pub(super) stop: Option<StopField>,
    #[serde(default)]
    pub(super) stop_token_ids: Vec<u32>,
    pub(super) n: Option<u32>,
    pub(super) prompt_cache_key: Option<String>,
    pub(super) stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum StopField {
    One(String),
    Many(Vec<String>),
}

impl CommonFields {
    pub(super) fn sampling(&self) -> SamplingSettings {
        SamplingSettings {
            temperature: self.temperature,
            temperature_min: self.min_temp,
            temperature_max: self.max_temp,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
            presence_penalty: self.presence_penalty,
            frequency_penalty: self.frequency_penalty,
        }
    }

    pub(super) fn stop_strings(&self) -> Vec<String> {
        match &self.stop {
            None => Vec::new(),
            Some(StopField::One(stop)) => vec![stop.clone()],
            Some(StopField::Many(stops)) => stops.clone(),
        }
    }

    pub(super) fn seed_or_random(&self) -> u64 {
        self.seed.map_or_else(entropy::random_number, i64::cast_unsigned)
    }
}
