//! Whisper: many languages, with times, half a minute at a time.

mod alignment;
mod mel;
mod rules;
mod vocabulary;
mod words;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ort::session::HasSelectedOutputs;
use ort::session::{OutputSelector, RunOptions, Session};
use ort::value::{DynValue, TensorRef};

use self::mel::Mel;
use self::vocabulary::Vocabulary;
pub(super) use self::words::has_no_spaces;
use super::decoder::{Cache, Decoder, Logits, cut_loop, likeliest};
use super::stretches::Pace;
use super::tokenizer::Texts;
use super::{Heard, SAMPLE_RATE, Spoken, TranscriptionError, check};
use crate::runtime::{Error as RuntimeError, Runtime};

/// The encoder always takes the time of half a minute, so stretches are as long as can be.
pub(super) const PACE: Pace = Pace { silence_s: 4.0, soft_s: 20.0, pause_s: 0.4, hard_s: 29.8 };

/// Half of what the decoder's positions allow, as in the reference implementation.
const TOKENS_MAX: usize = 224;
/// A stretch is taken for noise above this, if the text is unlikely as well.
const NO_SPEECH_MIN: f32 = 0.6;
const LIKELIHOOD_MIN: f32 = -1.0;

pub(super) struct Whisper {
    encoder: Session,
    encoder_outputs: RunOptions<HasSelectedOutputs>,
    decoder: Decoder,
    texts: Texts,
    vocabulary: Vocabulary,
    mel: Mel,
}

/// What was decoded from a stretch, times included.
struct Decoded {
    tokens: Vec<i64>,
    language: i64,
    /// How likely it is that nobody spoke.
    no_speech: f32,
    /// The mean logarithm of the likelihood of the tokens.
    likelihood: f32,
}

impl Whisper {
    pub(super) fn load(runtime: &Runtime, folder: &Path) -> Result<Whisper, TranscriptionError> {
        let decoder = folder.join("decoder_model_merged_quantized.onnx");
        // The graph also gives out where its layers looked, which is large and not needed.
        let outputs = OutputSelector::no_default().with("last_hidden_state");
        let options = RunOptions::new().map_err(RuntimeError::from)?;
        Ok(Whisper {
            encoder: runtime.session(&folder.join("encoder_model_quantized.onnx"))?,
            encoder_outputs: options.with_outputs(outputs),
            decoder: Decoder::load(runtime, &decoder)?,
            texts: Texts::load(folder)?,
            vocabulary: Vocabulary::load(folder)?,
            mel: Mel::new(),
        })
    }

    pub(super) fn knows(&self, language: &str) -> bool {
        self.vocabulary.language(language).is_some()
    }

    pub(super) fn hear(
        &mut self,
        samples: &[f32],
        language: Option<&str>,
        words: bool,
        cancelled: &AtomicBool,
    ) -> Result<Heard, TranscriptionError> {
        let length_s = samples.len() as f64 / f64::from(SAMPLE_RATE);
        let states = self.encode(samples)?;
        let language = language.and_then(|it| self.vocabulary.language(it));
        let decoded = self.decode(&states, language, cancelled)?;
        let is_noise = NO_SPEECH_MIN < decoded.no_speech && decoded.likelihood < LIKELIHOOD_MIN;
        if is_noise {
            return Ok(Heard::default());
        }
        let segments = self.segments(&decoded.tokens, length_s)?;
        if segments.is_empty() {
            return Ok(Heard::default());
        }
        let mut words = if words { self.words(&states, &decoded, length_s)? } else { Vec::new() };
        words::end_with_segments(&mut words, &segments);
        let language = self.vocabulary.code(decoded.language).map(str::to_owned);
        Ok(Heard { language, segments, words })
    }

    fn encode(&mut self, samples: &[f32]) -> Result<DynValue, TranscriptionError> {
        let features = self.mel.features(samples);
        let shape = [1, mel::BANDS, mel::FRAMES];
        let input = TensorRef::from_array_view((shape, features.as_slice()));
        let input = input.map_err(RuntimeError::from)?;
        let outputs = self.encoder.run_with_options(ort::inputs![input], &self.encoder_outputs);
        let states = outputs.map_err(RuntimeError::from)?.remove("last_hidden_state");
        states.ok_or_else(|| TranscriptionError::Failed("the encoder gave no states".to_owned()))
    }

    /// The likeliest token after the other, by the rules of times.
    fn decode(
        &mut self,
        states: &DynValue,
        language: Option<i64>,
        cancelled: &AtomicBool,
    ) -> Result<Decoded, TranscriptionError> {
        let vocabulary = &self.vocabulary;
        let (first, mut cache) = self.decoder.begin(states, &[vocabulary.start])?;
        let no_speech = rules::likelihood(first.first(), vocabulary.no_speech).exp();
        let language = language.unwrap_or_else(|| vocabulary.likeliest_language(first.first()));
        let transcribe = vocabulary.transcribe;
        self.decoder.go_on(states, language, &mut cache)?;
        let mut logits = self.decoder.go_on(states, transcribe, &mut cache)?;
        let (mut tokens, mut likelihood) = (Vec::new(), 0.0);
        while tokens.len() < TOKENS_MAX {
            check(cancelled)?;
            let (token, how_likely) = self.choose(&logits, &tokens);
            likelihood += how_likely;
            if token == self.vocabulary.end {
                break;
            }
            tokens.push(token);
            if cut_loop(&mut tokens) {
                break;
            }
            logits = self.next(states, token, &mut cache)?;
        }
        let likelihood = likelihood / (tokens.len() + 1) as f32;
        Ok(Decoded { tokens, language, no_speech, likelihood })
    }

    fn next(
        &mut self,
        states: &DynValue,
        token: i64,
        cache: &mut Cache,
    ) -> Result<Logits, TranscriptionError> {
        Ok(self.decoder.go_on(states, token, cache)?)
    }

    fn choose(&self, logits: &Logits, tokens: &[i64]) -> (i64, f32) {
        let mut logits = logits.last().to_vec();
        rules::apply(&mut logits, tokens, &self.vocabulary);
        let token = likeliest(&logits);
        (token, rules::likelihood(&logits, token))
    }

    /// The text between each two times.
    fn segments(&self, tokens: &[i64], length_s: f64) -> Result<Vec<Spoken>, TranscriptionError> {
        let mut segments = Vec::new();
        for span in rules::spans(tokens, &self.vocabulary) {
            let text = self.texts.text(&span.tokens)?.trim().to_owned();
            if text.is_empty() {
                continue;
            }
            let end_s = span.end_s.unwrap_or(length_s).min(length_s);
            segments.push(Spoken { start_s: span.start_s.min(end_s), end_s, text });
        }
        Ok(segments)
    }

    /// When each word was said, from where the decoder listened while it wrote.
    fn words(
        &mut self,
        states: &DynValue,
        decoded: &Decoded,
        length_s: f64,
    ) -> Result<Vec<Spoken>, TranscriptionError> {
        let vocabulary = &self.vocabulary;
        let texts = decoded.tokens.iter().copied().filter(|it| *it < vocabulary.end);
        let texts: Vec<i64> = texts.collect();
        let marks = [vocabulary.start, decoded.language, vocabulary.transcribe];
        let mut tokens = marks.to_vec();
        tokens.push(vocabulary.no_times);
        tokens.extend(&texts);
        tokens.push(vocabulary.end);
        let mut layers: Vec<usize> = vocabulary.alignment.iter().map(|(layer, _)| *layer).collect();
        layers.dedup();
        let attention = self.decoder.attention(states, &tokens, &layers)?;
        let mut heads = Vec::new();
        for (layer, head) in &vocabulary.alignment {
            let listened = layers.iter().position(|it| it == layer).map(|at| &attention[at]);
            heads.extend(listened.filter(|it| *head < it.heads).map(|it| it.head(*head)));
        }
        let frames = (length_s * alignment::FRAMES_PER_S).ceil() as usize;
        // The row of a token tells where the decoder listened for the token that follows it.
        let rows = marks.len()..tokens.len() - 1;
        let columns = attention.first().map_or(0, |it| it.frames);
        let starts = alignment::starts_s(&heads, columns, rows, frames.min(columns));
        let language = self.vocabulary.code(decoded.language).unwrap_or_default();
        words::assemble(&self.texts, &texts, &starts, has_no_spaces(language))
    }
}

#[cfg(test)]
mod tests;
