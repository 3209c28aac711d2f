//! Whisper: many languages, with timestamps, 30 s at a time.

mod alignment;
mod mel;
mod quality;
mod rules;
mod vocabulary;
mod words;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ort::session::HasSelectedOutputs;
use ort::session::{OutputSelector, RunOptions, Session};
use ort::value::{DynValue, TensorRef};

use self::mel::MelSpectrogram;
pub use self::quality::DecodingScores;
use self::quality::{QualityVerdict, TEMPERATURES};
use self::vocabulary::WhisperVocabulary;
pub(super) use self::words::has_no_spaces;
use super::decoder::{CachedDecoder, TokenLogits, cut_loop, sample_token};
use super::stretches::StretchLimits;
use super::tokenizer::TranscriptTokenizer;
use super::{
    SAMPLE_RATE, StretchTranscript, TimedSegment, TimedWord, TranscriptionError, TranscriptionTask,
    check_cancelled,
};
use crate::runtime::{OnnxRuntime, RuntimeError};

/// The encoder always costs as much as for 30 s, so stretches are as long as possible.
pub(super) const PACE: StretchLimits =
    StretchLimits { silence_s: 4.0, soft_s: 20.0, pause_s: 0.4, hard_s: 29.8 };

/// The decoder's number of positions. Half are for output, half for context, as in the reference
/// implementation.
const POSITIONS: usize = 448;
const TOKENS_MAX: usize = POSITIONS / 2;
pub(super) const CONTEXT_TOKENS_MAX: usize = POSITIONS / 2 - 1;
/// Arbitrary but fixed, so that output is reproducible.
const SEED: u64 = 1;

pub(super) struct WhisperModel {
    encoder: Session,
    encoder_outputs: RunOptions<HasSelectedOutputs>,
    decoder: CachedDecoder,
    texts: TranscriptTokenizer,
    vocabulary: WhisperVocabulary,
    mel: MelSpectrogram,
}

/// Options of a stretch.
pub(super) struct StretchOptions<'a> {
    pub(super) task: TranscriptionTask,
    pub(super) language: Option<&'a str>,
    pub(super) words: bool,
    /// `None` or 0: the lowest temperature whose text passes the quality checks.
    pub(super) temperature: Option<f32>,
    /// Tokens of the previous text.
    pub(super) context: &'a [i64],
}

/// The decoded tokens of a stretch, including timestamps.
struct StretchTokens {
    tokens: Vec<i64>,
    certainty: DecodingScores,
    is_loop: bool,
}

impl WhisperModel {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
    ) -> Result<WhisperModel, TranscriptionError> {
        let decoder = folder.join("decoder_model_merged_quantized.onnx");
        // The graph's other outputs, its attentions, are large and not needed.
        let outputs = OutputSelector::no_default().with("last_hidden_state");
        let options = RunOptions::new().map_err(RuntimeError::from)?;
        Ok(WhisperModel {
            encoder: runtime.create_session(&folder.join("encoder_model_quantized.onnx"))?,
            encoder_outputs: options.with_outputs(outputs),
            decoder: CachedDecoder::load(runtime, &decoder)?,
            texts: TranscriptTokenizer::load(folder)?,
            vocabulary: WhisperVocabulary::load(folder)?,
            mel: MelSpectrogram::new(),
        })
    }

    pub(super) fn knows_language(&self, language: &str) -> bool {
        self.vocabulary.language_token(language).is_some()
    }

    pub(super) fn can_translate(&self) -> bool {
        self.vocabulary.translate.is_some()
    }

    /// Tokens of a caller's hint, as previous text. Special tokens are removed.
    pub(super) fn tokenize_hint(&self, prompt: &str) -> Result<Vec<i64>, TranscriptionError> {
        let tokens = self.texts.encode_text(&format!(" {}", prompt.trim()))?;
        Ok(tokens.into_iter().filter(|it| *it < self.vocabulary.end).collect())
    }

    pub(super) fn transcribe(
        &mut self,
        samples: &[f32],
        ask: &StretchOptions<'_>,
        cancelled: &AtomicBool,
    ) -> Result<StretchTranscript, TranscriptionError> {
        let length_s = samples.len() as f64 / f64::from(SAMPLE_RATE);
        let states = self.encode_audio(samples)?;
        let language = match ask.language.and_then(|it| self.vocabulary.language_token(it)) {
            Some(language) => language,
            None => self.detect_language(&states)?,
        };
        let Some(decoded) = self.decode_with_retries(&states, language, ask, cancelled)? else {
            return Ok(StretchTranscript::default());
        };
        let segments = self.build_segments(&decoded, length_s)?;
        if segments.is_empty() {
            return Ok(StretchTranscript::default());
        }
        let mut words = if ask.words {
            self.align_words(&states, &decoded, language, length_s)?
        } else {
            Vec::new()
        };
        words::end_with_segments(&mut words, &segments);
        let code = self.vocabulary.language_code(language).map(str::to_owned);
        let is_sure = decoded.certainty.temperature <= quality::CONTEXT_TEMPERATURE_MAX;
        let context = if is_sure { Some(decoded.tokens) } else { None };
        Ok(StretchTranscript { language: code, segments, words, context })
    }

    fn encode_audio(&mut self, samples: &[f32]) -> Result<DynValue, TranscriptionError> {
        let features = self.mel.compute_features(samples);
        let shape = [1, mel::BANDS, mel::FRAMES];
        let input = TensorRef::from_array_view((shape, features.as_slice()));
        let input = input.map_err(RuntimeError::from)?;
        let outputs = self.encoder.run_with_options(ort::inputs![input], &self.encoder_outputs);
        let states = outputs.map_err(RuntimeError::from)?.remove("last_hidden_state");
        states.ok_or_else(|| TranscriptionError::Failed("the encoder gave no states".to_owned()))
    }

    /// The most likely language, detected without context.
    fn detect_language(&mut self, states: &DynValue) -> Result<i64, TranscriptionError> {
        let (logits, _) = self.decoder.decode_first(states, &[self.vocabulary.start])?;
        Ok(self.vocabulary.likeliest_language(logits.last()))
    }

    /// Retries at rising temperatures until a text passes the quality checks; otherwise returns the
    /// last one. `None` if there is no speech.
    fn decode_with_retries(
        &mut self,
        states: &DynValue,
        language: i64,
        ask: &StretchOptions<'_>,
        cancelled: &AtomicBool,
    ) -> Result<Option<StretchTokens>, TranscriptionError> {
        let before = self.vocabulary.build_prefix(ask.task, language, ask.context);
        let asked = ask.temperature.filter(|it| 0.0 < *it).map(|it| [it]);
        let temperatures = asked.as_ref().map_or(TEMPERATURES.as_slice(), |it| it.as_slice());
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut last = None;
        for temperature in temperatures {
            let draw = &mut |logits: &[f32]| sample_token(logits, *temperature, &mut random);
            let mut decoded = self.decode_tokens(states, &before, draw, cancelled)?;
            decoded.certainty.temperature = *temperature;
            match decoded.certainty.check_quality(decoded.is_loop) {
                QualityVerdict::Noise => return Ok(None),
                QualityVerdict::Believed => return Ok(Some(decoded)),
                QualityVerdict::Doubted => last = Some(decoded),
            }
        }
        Ok(last)
    }

    /// Decodes token by token, following the timestamp rules.
    fn decode_tokens(
        &mut self,
        states: &DynValue,
        before: &[i64],
        draw: &mut dyn FnMut(&[f32]) -> i64,
        cancelled: &AtomicBool,
    ) -> Result<StretchTokens, TranscriptionError> {
        let (mut logits, mut cache) = self.decoder.decode_first(states, before)?;
        let start = before.iter().rposition(|it| *it == self.vocabulary.start).unwrap_or(0);
        let no_speech =
            rules::log_probability(logits.after_token(start), self.vocabulary.no_speech).exp();
        let tokens_max = TOKENS_MAX.min(POSITIONS - before.len());
        let (mut tokens, mut likelihood, mut is_loop) = (Vec::new(), 0.0, false);
        while tokens.len() < tokens_max {
            check_cancelled(cancelled)?;
            let (token, how_likely) = self.choose_token(&logits, &tokens, draw);
            likelihood += how_likely;
            if token == self.vocabulary.end {
                break;
            }
            tokens.push(token);
            is_loop = cut_loop(&mut tokens);
            if is_loop {
                break;
            }
            logits = self.decoder.decode_next(states, token, &mut cache)?;
        }
        let likelihood = likelihood / (tokens.len() + 1) as f32;
        let compression = quality::compression_ratio(self.texts.decode_tokens(&tokens)?.trim());
        let certainty = DecodingScores { temperature: 0.0, likelihood, compression, no_speech };
        Ok(StretchTokens { tokens, certainty, is_loop })
    }

    fn choose_token(
        &self,
        logits: &TokenLogits,
        tokens: &[i64],
        draw: &mut dyn FnMut(&[f32]) -> i64,
    ) -> (i64, f32) {
        let mut logits = logits.last().to_vec();
        rules::apply_rules(&mut logits, tokens, &self.vocabulary);
        let token = draw(&logits);
        (token, rules::log_probability(&logits, token))
    }

    /// The text between each pair of timestamps.
    fn build_segments(
        &self,
        decoded: &StretchTokens,
        length_s: f64,
    ) -> Result<Vec<TimedSegment>, TranscriptionError> {
        let mut segments = Vec::new();
        for span in rules::split_spans(&decoded.tokens, &self.vocabulary) {
            let text = self.texts.decode_tokens(&span.tokens)?.trim().to_owned();
            if text.is_empty() {
                continue;
            }
            let end_s = span.end_s.unwrap_or(length_s).min(length_s);
            let start_s = span.start_s.min(end_s);
            segments.push(TimedSegment {
                start_s,
                end_s,
                text,
                certainty: Some(decoded.certainty),
            });
        }
        Ok(segments)
    }

    /// Word timestamps, derived from the decoder's cross-attention.
    fn align_words(
        &mut self,
        states: &DynValue,
        decoded: &StretchTokens,
        language: i64,
        length_s: f64,
    ) -> Result<Vec<TimedWord>, TranscriptionError> {
        let vocabulary = &self.vocabulary;
        let texts = decoded.tokens.iter().copied().filter(|it| *it < vocabulary.end);
        let texts: Vec<i64> = texts.collect();
        let marks = [vocabulary.start, language, vocabulary.transcribe];
        let mut tokens = marks.to_vec();
        tokens.push(vocabulary.no_times);
        tokens.extend(&texts);
        tokens.push(vocabulary.end);
        let mut layers: Vec<usize> = vocabulary.alignment.iter().map(|(layer, _)| *layer).collect();
        layers.dedup();
        let attention = self.decoder.cross_attention(states, &tokens, &layers)?;
        let mut heads = Vec::new();
        for (layer, head) in &vocabulary.alignment {
            let listened = layers.iter().position(|it| it == layer).map(|at| &attention[at]);
            heads.extend(listened.filter(|it| *head < it.heads).map(|it| it.head(*head)));
        }
        let frames = (length_s * alignment::FRAMES_PER_S).ceil() as usize;
        // A token's row is the attention while decoding the token after it.
        let rows = marks.len()..tokens.len() - 1;
        let columns = attention.first().map_or(0, |it| it.frames);
        let starts = alignment::starts_s(&heads, columns, rows, frames.min(columns));
        let language = self.vocabulary.language_code(language).unwrap_or_default();
        words::assemble_words(&self.texts, &texts, &starts, has_no_spaces(language))
    }
}

#[cfg(test)]
mod tests;
