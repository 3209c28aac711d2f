//! From sound to text: stretches of speech one after the other, so that memory stays small
//! however long the sound is.

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
use self::whisper::Whisper;
use crate::runtime::{Error as RuntimeError, Runtime};

/// What every model here listens to, in samples a second.
pub const SAMPLE_RATE: u32 = 16_000;

/// A loaded model. Callers on several threads take turns, a stretch of speech at a time.
pub struct Transcriber {
    kind: Kind,
    listener: Mutex<Listener>,
}

/// The families of models, by their files.
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
    /// The language as a code of two or three letters; found out where it is not given.
    pub language: Option<String>,
    /// Whether to find out when each word was said, which takes a little longer.
    pub words: bool,
}

/// What was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    pub text: String,
    /// A code such as `en`; none where nothing was said.
    pub language: Option<String>,
    pub duration_s: f64,
    pub segments: Vec<Spoken>,
    /// Empty unless asked for, and where the model cannot tell.
    pub words: Vec<Spoken>,
}

/// A sentence or a word, and when it was said.
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

/// What a model makes of one stretch; times count from its start.
#[derive(Default)]
struct Heard {
    language: Option<String>,
    segments: Vec<Spoken>,
    words: Vec<Spoken>,
}

/// One transcription under way.
struct Run<'a> {
    options: &'a Options,
    cancelled: &'a AtomicBool,
    transcript: Transcript,
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

    /// Whether it can tell when each word was said. Moonshine's graph does not give out where
    /// it listened, and times that are made up would be worse than none.
    pub fn knows_words(&self) -> bool {
        self.kind == Kind::Whisper
    }

    /// Transcribes blocks of samples at `SAMPLE_RATE`. It blocks until the end, or until
    /// `cancelled` is set, which it looks at for every token.
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
        let mut run = Run { options, cancelled, transcript: Transcript::default() };
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
            Listener::Moonshine(_) => language == moonshine::LANGUAGE,
            Listener::Whisper(whisper) => whisper.knows(language),
        };
        if is_known { Ok(()) } else { Err(TranscriptionError::Language(language.clone())) }
    }

    fn hear(&self, stretch: &Stretch, run: &mut Run<'_>) -> Result<(), TranscriptionError> {
        check(run.cancelled)?;
        // Once a language was found it holds for the rest, or noise would change it.
        let language = run.options.language.as_ref().or(run.transcript.language.as_ref());
        let heard = match &mut *self.listener() {
            Listener::Moonshine(moonshine) => moonshine.hear(&stretch.samples, run.cancelled)?,
            Listener::Whisper(whisper) => {
                let language = language.map(String::as_str);
                whisper.hear(&stretch.samples, language, run.options.words, run.cancelled)?
            }
        };
        let later = |spoken: Spoken| Spoken {
            start_s: spoken.start_s + stretch.start_s,
            end_s: spoken.end_s + stretch.start_s,
            text: spoken.text,
        };
        let transcript = &mut run.transcript;
        transcript.segments.extend(heard.segments.into_iter().map(later));
        transcript.words.extend(heard.words.into_iter().map(later));
        if transcript.language.is_none() {
            transcript.language = heard.language;
        }
        Ok(())
    }

    /// A panic in a turn before leaves nothing half done: each turn starts afresh.
    fn listener(&self) -> std::sync::MutexGuard<'_, Listener> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(cancelled: &AtomicBool) -> Result<(), TranscriptionError> {
    if cancelled.load(Ordering::Relaxed) { Err(TranscriptionError::Cancelled) } else { Ok(()) }
}

fn joined(segments: &[Spoken], language: Option<&str>) -> String {
    let texts: Vec<&str> = segments.iter().map(|it| it.text.as_str()).collect();
    let separator = if language.is_some_and(whisper::has_no_spaces) { "" } else { " " };
    texts.join(separator)
}

#[cfg(test)]
mod tests;
