//! Speech to text: processes one segment of speech after another, so that memory does not grow with
//! the length of the audio.

mod decoder;
mod moonshine;
mod stretches;
mod tokenizer;
mod whisper;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use media::SoundError;

use self::moonshine::Moonshine;
use self::stretches::{Splitter, Stretch};
pub use self::whisper::Certainty;
use self::whisper::Whisper;
use crate::runtime::{Error as RuntimeError, Runtime};

/// Sample rate of all models, in Hz.
pub const SAMPLE_RATE: u32 = 16_000;

/// A loaded model. Threads take turns, one segment of speech at a time.
pub struct Transcriber {
    kind: Kind,
    listener: Mutex<Listener>,
}

/// The families of models, with their files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// English only: `encoder_model.onnx`, `decoder_model_merged.onnx`, `tokenizer.json`.
    Moonshine,
    /// Many languages: `encoder_model_quantized.onnx`, `decoder_model_merged_quantized.onnx`,
    /// `tokenizer.json`, `generation_config.json`.
    Whisper,
}

enum Listener {
    Moonshine(Box<Moonshine>),
    Whisper(Box<Whisper>),
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Language code of two or three letters; `None` detects it.
    pub language: Option<String>,
    /// Also return word timestamps, which takes a little longer.
    pub words: bool,
    /// Words that are likely to occur, for models that accept a hint (Whisper).
    pub prompt: Option<String>,
    /// Above 0, tokens are sampled. Otherwise decoding is greedy, and Whisper samples only if the
    /// greedy text fails its quality checks.
    pub temperature: Option<f32>,
}

/// The transcribed text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    pub text: String,
    /// A code such as `en`; `None` if there was no speech.
    pub language: Option<String>,
    pub duration_s: f64,
    pub segments: Vec<Segment>,
    /// Empty unless requested and supported by the model.
    pub words: Vec<Spoken>,
}

/// A sentence with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub start_s: f64,
    pub end_s: f64,
    pub text: String,
    /// `None` if the model has no scores.
    pub certainty: Option<Certainty>,
}

/// A word with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    pub start_s: f64,
    pub end_s: f64,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum TranscriptionError {
    #[error(transparent)]
    Sound(#[from] SoundError),
    #[error("the model does not know the language {0:?}")]
    Language(String),
    #[error("the transcription was cancelled")]
    Cancelled,
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the transcription model failed: {0}")]
    Failed(String),
}

/// The result of one stretch of speech; times are relative to its start.
#[derive(Default)]
struct Heard {
    language: Option<String>,
    segments: Vec<Segment>,
    words: Vec<Spoken>,
    /// Tokens to pass as context to the next stretch; `None` if they are unreliable.
    context: Option<Vec<i64>>,
}

/// A transcription in progress.
struct Run<'a> {
    options: &'a Options,
    cancelled: &'a AtomicBool,
    transcript: Transcript,
    /// The previous text, or the caller's hint, as tokens.
    context: Vec<i64>,
}

impl Transcriber {
    pub fn load(
        runtime: &Runtime,
        folder: &Path,
        kind: Kind,
    ) -> Result<Transcriber, TranscriptionError> {
        let listener = match kind {
            Kind::Moonshine => Listener::Moonshine(Box::new(Moonshine::load(runtime, folder)?)),
            Kind::Whisper => Listener::Whisper(Box::new(Whisper::load(runtime, folder)?)),
        };
        Ok(Transcriber { kind, listener: Mutex::new(listener) })
    }

    /// True if word timestamps are supported. Moonshine's graph does not return its attention, and
    /// invented times would be worse than none.
    pub fn knows_words(&self) -> bool {
        self.kind == Kind::Whisper
    }

    /// Transcribes blocks of samples at `SAMPLE_RATE`. Blocks until the end, or until `cancelled`
    /// is set, which is checked at every token.
    pub fn transcribe(
        &self,
        blocks: impl Iterator<Item = Result<Vec<f32>, SoundError>>,
        options: &Options,
        cancelled: &AtomicBool,
    ) -> Result<Transcript, TranscriptionError> {
        self.check_language(options)?;
        let pace = match self.kind {
            Kind::Moonshine => &moonshine::PACE,
            Kind::Whisper => &whisper::PACE,
        };
        let mut splitter = Splitter::new(pace);
        let context = self.first_context(options)?;
        let mut run = Run { options, cancelled, transcript: Transcript::default(), context };
        for block in blocks {
            for stretch in splitter.push(&block?) {
                self.hear(&stretch, &mut run)?;
            }
        }
        let duration_s = splitter.heard_s();
        if let Some(stretch) = splitter.finish() {
            self.hear(&stretch, &mut run)?;
        }
        let mut transcript = run.transcript;
        transcript.duration_s = duration_s;
        transcript.text = joined(&transcript.segments, transcript.language.as_deref());
        Ok(transcript)
    }

    fn check_language(&self, options: &Options) -> Result<(), TranscriptionError> {
        let Some(language) = &options.language else {
            return Ok(());
        };
        let is_known = match &*self.listener() {
            // It supports one language and takes no hint, so the language is ignored.
            Listener::Moonshine(_) => true,
            Listener::Whisper(whisper) => whisper.knows(language),
        };
        if is_known { Ok(()) } else { Err(TranscriptionError::Language(language.clone())) }
    }

    fn first_context(&self, options: &Options) -> Result<Vec<i64>, TranscriptionError> {
        match (&*self.listener(), &options.prompt) {
            (Listener::Whisper(whisper), Some(prompt)) => whisper.context(prompt),
            _ => Ok(Vec::new()),
        }
    }

    fn hear(&self, stretch: &Stretch, run: &mut Run<'_>) -> Result<(), TranscriptionError> {
        check(run.cancelled)?;
        // A detected language is kept for the rest, because noise could change it.
        let language = run.options.language.as_ref().or(run.transcript.language.as_ref());
        let heard = match &mut *self.listener() {
            Listener::Moonshine(moonshine) => {
                let temperature = run.options.temperature.unwrap_or(0.0);
                moonshine.hear(&stretch.samples, temperature, run.cancelled)?
            }
            Listener::Whisper(whisper) => {
                let ask = whisper::Ask {
                    language: language.map(String::as_str),
                    words: run.options.words,
                    temperature: run.options.temperature,
                    context: &run.context,
                };
                whisper.hear(&stretch.samples, &ask, run.cancelled)?
            }
        };
        run.note(heard, stretch.start_s);
        Ok(())
    }

    /// Ignores poisoning: no state is kept between stretches.
    fn listener(&self) -> std::sync::MutexGuard<'_, Listener> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run<'_> {
    /// Appends the result of a stretch that started at `start_s`.
    fn note(&mut self, heard: Heard, start_s: f64) {
        let later = |(from_s, until_s): (f64, f64)| (from_s + start_s, until_s + start_s);
        let transcript = &mut self.transcript;
        let has_text = !heard.segments.is_empty();
        for segment in heard.segments {
            let (start_s, end_s) = later((segment.start_s, segment.end_s));
            transcript.segments.push(Segment { start_s, end_s, ..segment });
        }
        for word in heard.words {
            let (start_s, end_s) = later((word.start_s, word.end_s));
            transcript.words.push(Spoken { start_s, end_s, ..word });
        }
        if transcript.language.is_none() {
            transcript.language = heard.language;
        }
        match heard.context {
            Some(tokens) => {
                self.context.extend(tokens);
                let needless = self.context.len().saturating_sub(whisper::CONTEXT_TOKENS_MAX);
                self.context.drain(..needless);
            }
            None if has_text => self.context.clear(),
            None => {}
        }
    }
}

fn check(cancelled: &AtomicBool) -> Result<(), TranscriptionError> {
    if cancelled.load(Ordering::Relaxed) { Err(TranscriptionError::Cancelled) } else { Ok(()) }
}

fn joined(segments: &[Segment], language: Option<&str>) -> String {
    let texts: Vec<&str> = segments.iter().map(|it| it.text.as_str()).collect();
    let separator = if language.is_some_and(whisper::has_no_spaces) { "" } else { " " };
    texts.join(separator)
}

#[cfg(test)]
mod tests;
