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

use audio_codec::SoundError;

use self::moonshine::MoonshineModel;
use self::stretches::{SpeechStretch, StretchSplitter};
pub use self::whisper::DecodingScores;
use self::whisper::WhisperModel;
use crate::runtime::{OnnxRuntime, RuntimeError};

/// Sample rate of all models, in Hz.
pub const SAMPLE_RATE: u32 = 16_000;

/// The language of translations.
const ENGLISH: &str = "en";

/// A loaded model. Threads take turns, one segment of speech at a time.
pub struct SpeechTranscriber {
    kind: TranscriptionModelKind,
    listener: Mutex<TranscriberModel>,
}

/// The families of models, with their files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TranscriptionModelKind {
    /// English only: `encoder_model.onnx`, `decoder_model_merged.onnx`, `tokenizer.json`.
    Moonshine,
    /// Many languages: `encoder_model_quantized.onnx`, `decoder_model_merged_quantized.onnx`,
    /// `tokenizer.json`, `generation_config.json`.
    Whisper,
}

enum TranscriberModel {
    Moonshine(Box<MoonshineModel>),
    Whisper(Box<WhisperModel>),
}

/// The language of the text.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TranscriptionTask {
    /// The spoken language.
    #[default]
    Transcribe,
    /// English, for models that can translate.
    Translate,
}

#[derive(Clone, Debug, Default)]
pub struct TranscriptionOptions {
    pub task: TranscriptionTask,
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
pub struct AudioTranscript {
    pub text: String,
    /// The spoken language as a code such as `en`; `None` if there was no speech.
    pub language: Option<String>,
    pub duration_s: f64,
    pub segments: Vec<TimedSegment>,
    /// Empty unless requested and supported by the model.
    pub words: Vec<TimedWord>,
}

/// A sentence with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedSegment {
    pub start_s: f64,
    pub end_s: f64,
    pub text: String,
    /// `None` if the model has no scores.
    pub certainty: Option<DecodingScores>,
}

/// A word with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedWord {
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
    #[error("the model cannot translate")]
    Task,
    #[error("the transcription was cancelled")]
    Cancelled,
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the transcription model failed: {0}")]
    Failed(String),
}

/// The result of one stretch of speech; times are relative to its start.
#[derive(Default)]
struct StretchTranscript {
    language: Option<String>,
    segments: Vec<TimedSegment>,
    words: Vec<TimedWord>,
    /// Tokens to pass as context to the next stretch; `None` if they are unreliable.
    context: Option<Vec<i64>>,
}

/// A transcription in progress.
struct TranscriptionRun<'a> {
    options: &'a TranscriptionOptions,
    cancelled: &'a AtomicBool,
    transcript: AudioTranscript,
    /// The previous text, or the caller's hint, as tokens.
    context: Vec<i64>,
}

impl SpeechTranscriber {
    pub fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
        kind: TranscriptionModelKind,
    ) -> Result<SpeechTranscriber, TranscriptionError> {
        let listener = match kind {
            TranscriptionModelKind::Moonshine => {
                TranscriberModel::Moonshine(Box::new(MoonshineModel::load(runtime, folder)?))
            }
            TranscriptionModelKind::Whisper => {
                TranscriberModel::Whisper(Box::new(WhisperModel::load(runtime, folder)?))
            }
        };
        Ok(SpeechTranscriber { kind, listener: Mutex::new(listener) })
    }

    /// True if word timestamps are supported. Moonshine's graph does not return its attention, and
    /// invented times would be worse than none.
    pub fn knows_words(&self) -> bool {
        self.kind == TranscriptionModelKind::Whisper
    }

    /// True if speech of other languages can be transcribed in English.
    pub fn can_translate(&self) -> bool {
        match &*self.lock_model() {
            TranscriberModel::Moonshine(_) => false,
            TranscriberModel::Whisper(whisper) => whisper.can_translate(),
        }
    }

    /// Transcribes blocks of samples at `SAMPLE_RATE`. Blocks until the end, or until `cancelled`
    /// is set, which is checked at every token.
    pub fn transcribe(
        &self,
        blocks: impl Iterator<Item = Result<Vec<f32>, SoundError>>,
        options: &TranscriptionOptions,
        cancelled: &AtomicBool,
    ) -> Result<AudioTranscript, TranscriptionError> {
        if options.task == TranscriptionTask::Translate && !self.can_translate() {
            return Err(TranscriptionError::Task);
        }
        self.check_language(options)?;
        let pace = match self.kind {
            TranscriptionModelKind::Moonshine => &moonshine::PACE,
            TranscriptionModelKind::Whisper => &whisper::PACE,
        };
        let mut splitter = StretchSplitter::new(pace);
        let context = self.first_context(options)?;
        let mut run = TranscriptionRun {
            options,
            cancelled,
            transcript: AudioTranscript::default(),
            context,
        };
        for block in blocks {
            for stretch in splitter.push(&block?) {
                self.transcribe_stretch(&stretch, &mut run)?;
            }
        }
        let duration_s = splitter.heard_s();
        if let Some(stretch) = splitter.finish() {
            self.transcribe_stretch(&stretch, &mut run)?;
        }
        let mut transcript = run.transcript;
        transcript.duration_s = duration_s;
        let language = match options.task {
            TranscriptionTask::Transcribe => transcript.language.as_deref(),
            TranscriptionTask::Translate => Some(ENGLISH),
        };
        transcript.text = join_segments(&transcript.segments, language);
        Ok(transcript)
    }

    fn check_language(&self, options: &TranscriptionOptions) -> Result<(), TranscriptionError> {
        let Some(language) = &options.language else {
            return Ok(());
        };
        let is_known = match &*self.lock_model() {
            // It supports one language and takes no hint, so the language is ignored.
            TranscriberModel::Moonshine(_) => true,
            TranscriberModel::Whisper(whisper) => whisper.knows_language(language),
        };
        if is_known { Ok(()) } else { Err(TranscriptionError::Language(language.clone())) }
    }

    fn first_context(
        &self,
        options: &TranscriptionOptions,
    ) -> Result<Vec<i64>, TranscriptionError> {
        match (&*self.lock_model(), &options.prompt) {
            (TranscriberModel::Whisper(whisper), Some(prompt)) => whisper.tokenize_hint(prompt),
            _ => Ok(Vec::new()),
        }
    }

    fn transcribe_stretch(
        &self,
        stretch: &SpeechStretch,
        run: &mut TranscriptionRun<'_>,
    ) -> Result<(), TranscriptionError> {
        check_cancelled(run.cancelled)?;
        // A detected language is kept for the rest, because noise could change it.
        let language = run.options.language.as_ref().or(run.transcript.language.as_ref());
        let heard = match &mut *self.lock_model() {
            TranscriberModel::Moonshine(moonshine) => {
                let temperature = run.options.temperature.unwrap_or(0.0);
                moonshine.transcribe(&stretch.samples, temperature, run.cancelled)?
            }
            TranscriberModel::Whisper(whisper) => {
                let ask = whisper::StretchOptions {
                    task: run.options.task,
                    language: language.map(String::as_str),
                    words: run.options.words,
                    temperature: run.options.temperature,
                    context: &run.context,
                };
                whisper.transcribe(&stretch.samples, &ask, run.cancelled)?
            }
        };
        run.append_stretch(heard, stretch.start_s);
        Ok(())
    }

    /// Ignores poisoning: no state is kept between stretches.
    fn lock_model(&self) -> std::sync::MutexGuard<'_, TranscriberModel> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TranscriptionRun<'_> {
    /// Appends the result of a stretch that started at `start_s`.
    fn append_stretch(&mut self, heard: StretchTranscript, start_s: f64) {
        let later = |(from_s, until_s): (f64, f64)| (from_s + start_s, until_s + start_s);
        let transcript = &mut self.transcript;
        let has_text = !heard.segments.is_empty();
        for segment in heard.segments {
            let (start_s, end_s) = later((segment.start_s, segment.end_s));
            transcript.segments.push(TimedSegment { start_s, end_s, ..segment });
        }
        for word in heard.words {
            let (start_s, end_s) = later((word.start_s, word.end_s));
            transcript.words.push(TimedWord { start_s, end_s, ..word });
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

fn check_cancelled(cancelled: &AtomicBool) -> Result<(), TranscriptionError> {
    if cancelled.load(Ordering::Relaxed) { Err(TranscriptionError::Cancelled) } else { Ok(()) }
}

fn join_segments(segments: &[TimedSegment], language: Option<&str>) -> String {
    let texts: Vec<&str> = segments.iter().map(|it| it.text.as_str()).collect();
    let separator = if language.is_some_and(whisper::has_no_spaces) { "" } else { " " };
    texts.join(separator)
}

#[cfg(test)]
mod tests;
