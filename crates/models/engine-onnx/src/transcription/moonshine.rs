//! Moonshine: English, directly from samples.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ort::session::Session;
use ort::value::TensorRef;

use super::decoder::{CachedDecoder, cut_loop, sample_token};
use super::stretches::StretchLimits;
use super::tokenizer::TranscriptTokenizer;
use super::{SAMPLE_RATE, StretchTranscript, TimedSegment, TranscriptionError, check_cancelled};
use crate::runtime::{OnnxRuntime, RuntimeError};

pub(super) const LANGUAGE: &str = "en";
/// Trained on stretches of up to 30 s; shorter ones are as accurate and faster.
pub(super) const PACE: StretchLimits =
    StretchLimits { silence_s: 1.2, soft_s: 6.0, pause_s: 0.3, hard_s: 24.0 };

const START: i64 = 1;
const END: i64 = 2;
/// Faster than any speech; a model that exceeds it has lost track.
const TOKENS_PER_S_MAX: f64 = 8.0;
const TOKENS_MIN: usize = 8;
/// Arbitrary but fixed, so that output is reproducible.
const SEED: u64 = 1;
/// Shorter audio is padded with silence, because the first layers use windows.
const SAMPLES_MIN: usize = SAMPLE_RATE as usize / 2;

pub(super) struct MoonshineModel {
    encoder: Session,
    decoder: CachedDecoder,
    texts: TranscriptTokenizer,
}

impl MoonshineModel {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
    ) -> Result<MoonshineModel, TranscriptionError> {
        Ok(MoonshineModel {
            encoder: runtime.create_session(&folder.join("encoder_model.onnx"))?,
            decoder: CachedDecoder::load(runtime, &folder.join("decoder_model_merged.onnx"))?,
            texts: TranscriptTokenizer::load(folder)?,
        })
    }

    /// One segment per stretch: the model has no timestamps.
    pub(super) fn transcribe(
        &mut self,
        samples: &[f32],
        temperature: f32,
        cancelled: &AtomicBool,
    ) -> Result<StretchTranscript, TranscriptionError> {
        let length_s = samples.len() as f64 / f64::from(SAMPLE_RATE);
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut draw = |logits: &[f32]| sample_token(logits, temperature, &mut random);
        let tokens = self.decode_tokens(samples, &mut draw, cancelled)?;
        let text = self.texts.decode_tokens(&tokens)?.trim().to_owned();
        if text.is_empty() {
            return Ok(StretchTranscript::default());
        }
        Ok(StretchTranscript {
            language: Some(LANGUAGE.to_owned()),
            segments: vec![TimedSegment { start_s: 0.0, end_s: length_s, text, certainty: None }],
            ..StretchTranscript::default()
        })
    }

    fn decode_tokens(
        &mut self,
        samples: &[f32],
        draw: &mut dyn FnMut(&[f32]) -> i64,
        cancelled: &AtomicBool,
    ) -> Result<Vec<i64>, TranscriptionError> {
        let length_s = samples.len() as f64 / f64::from(SAMPLE_RATE);
        let mut samples = samples.to_vec();
        samples.resize(samples.len().max(SAMPLES_MIN), 0.0);
        let input = TensorRef::from_array_view(([1, samples.len()], samples.as_slice()));
        let input = input.map_err(RuntimeError::from)?;
        let mut outputs = self.encoder.run(ort::inputs![input]).map_err(RuntimeError::from)?;
        let Some(states) = outputs.remove("last_hidden_state") else {
            return Err(TranscriptionError::Failed("the encoder gave no states".to_owned()));
        };
        let tokens_max = TOKENS_MIN + (length_s * TOKENS_PER_S_MAX) as usize;
        let mut tokens = Vec::new();
        let (mut logits, mut cache) = self.decoder.decode_first(&states, &[START])?;
        while tokens.len() < tokens_max {
            check_cancelled(cancelled)?;
            let token = draw(logits.last());
            if token == END {
                break;
            }
            tokens.push(token);
            if cut_loop(&mut tokens) {
                break;
            }
            logits = self.decoder.decode_next(&states, token, &mut cache)?;
        }
        Ok(tokens)
    }
}
