//! Text to speech, sentence by sentence.

mod hibari;
mod kokoro;
mod language;
mod spelling;
mod stretch;
mod trim;
mod utterance;
mod vocoder;
mod voices;
mod widen;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use utterance::VoiceSettings;
pub use utterance::{CancelHandle, SpeechUtterance};
pub use voices::{EnglishAccent, SpeechVoice};

use crate::OnnxRuntime;
use language::EnglishResources;

/// Sample rate of all voices.
pub const SAMPLE_RATE_HZ: u32 = 24_000;
/// Maximum characters per request.
pub const CHARACTERS_MAX: usize = 4096;
/// Supported speeds, as a factor.
pub const SPEED_RANGE: std::ops::RangeInclusive<f32> = 0.25..=4.0;

/// The speech models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechModelKind {
    /// One voice; small and fast.
    Hibari,
    /// Many voices; ten times the work.
    Kokoro,
}

/// A loaded speech model. Threads share it; they take turns per piece of text.
#[derive(Debug)]
pub struct SpeechSynthesizer {
    model: SpeechModel,
    voices: Vec<SpeechVoice>,
    language: EnglishResources,
}

#[derive(Debug)]
enum SpeechModel {
    Hibari(hibari::HibariModel),
    Kokoro(kokoro::KokoroModel),
}

/// Errors of speech.
#[derive(Debug, thiserror::Error)]
pub enum SpeechError {
    #[error("there is no voice {0:?}")]
    UnknownVoice(String),
    #[error("the text has {characters} characters, and may have {CHARACTERS_MAX}")]
    TooLong { characters: usize },
    #[error("speed {speed} is not between {} and {}", SPEED_RANGE.start(), SPEED_RANGE.end())]
    Speed { speed: f32 },
    #[error("the text has nothing that can be spoken")]
    Unspeakable,
    #[error("cannot read {}: {cause}", path.display())]
    File { path: PathBuf, cause: String },
    #[error(transparent)]
    Engine(#[from] crate::RuntimeError),
    #[error("the model gave no sound")]
    NoSound,
}

impl From<ort::Error> for SpeechError {
    fn from(error: ort::Error) -> SpeechError {
        SpeechError::Engine(crate::RuntimeError::Run(error))
    }
}

impl SpeechSynthesizer {
    /// Loads the model in `folder`. `language` is the folder with the files for reading English.
    pub fn load(
        runtime: &OnnxRuntime,
        kind: SpeechModelKind,
        folder: &Path,
        language: &Path,
    ) -> Result<SpeechSynthesizer, SpeechError> {
        let (model, voices) = match kind {
            SpeechModelKind::Hibari => (
                SpeechModel::Hibari(hibari::HibariModel::load(runtime, folder)?),
                voices::list_hibari_voices(),
            ),
            SpeechModelKind::Kokoro => (
                SpeechModel::Kokoro(kokoro::KokoroModel::load(runtime, folder)?),
                voices::list_kokoro_voices(folder)?,
            ),
        };
        Ok(SpeechSynthesizer { model, voices, language: EnglishResources::new(runtime, language) })
    }

    /// The usable voices, sorted by name.
    pub fn voices(&self) -> &[SpeechVoice] {
        &self.voices
    }

    /// Starts to speak a text. Only the first sentence with sound is read; audio is computed on
    /// demand.
    pub fn speak(
        &self,
        text: &str,
        voice: &str,
        speed: f32,
    ) -> Result<SpeechUtterance<'_>, SpeechError> {
        self.speak_until(text, voice, speed, Arc::new(CancelHandle::new()?))
    }

    /// As [`SpeechSynthesizer::speak`], with a given cancellation handle.
    pub fn speak_until(
        &self,
        text: &str,
        voice: &str,
        speed: f32,
        cancel: Arc<CancelHandle>,
    ) -> Result<SpeechUtterance<'_>, SpeechError> {
        let characters = text.chars().count();
        if CHARACTERS_MAX < characters {
            return Err(SpeechError::TooLong { characters });
        }
        if !SPEED_RANGE.contains(&speed) {
            return Err(SpeechError::Speed { speed });
        }
        SpeechUtterance::new(
            self,
            text,
            VoiceSettings { voice: self.find_voice(voice)?, speed },
            cancel,
        )
    }

    /// The phonemes that `speak` would say.
    pub fn text_phonemes(&self, text: &str, voice: &str) -> Result<String, SpeechError> {
        let accent = self.find_voice(voice)?.accent;
        let mut read = Vec::new();
        for sentence in phonemes::split_sentences(text) {
            read.push(self.language.sentence_phonemes(sentence, accent)?);
        }
        Ok(read.join(" "))
    }

    /// The audio of some phonemes at normal speed, including the silence around it.
    pub fn speak_phonemes(&self, phonemes: &str, voice: &str) -> Result<Vec<f32>, SpeechError> {
        let voice = self.find_voice(voice)?;
        self.synthesize(
            phonemes,
            &SpeechParameters { voice, speed: 1.0, cancel: &CancelHandle::new()? },
        )
    }

    fn find_voice(&self, name: &str) -> Result<&SpeechVoice, SpeechError> {
        let known = self.voices.iter().find(|it| it.name == name);
        known.ok_or_else(|| SpeechError::UnknownVoice(name.to_owned()))
    }

    /// The audio of some phonemes. Speeds outside of the models' range are clamped to it; time
    /// stretching does the rest.
    fn synthesize(
        &self,
        phonemes: &str,
        how: &SpeechParameters<'_>,
    ) -> Result<Vec<f32>, SpeechError> {
        let native = how.speed.clamp(*NATIVE_SPEEDS.start(), *NATIVE_SPEEDS.end());
        let ids = phonemes::encode_phonemes(phonemes);
        let sound = match &self.model {
            SpeechModel::Hibari(model) => model.synthesize(&ids, native, how.cancel)?,
            SpeechModel::Kokoro(model) => model.synthesize(&ids, how.voice, native, how.cancel)?,
        };
        if !sound.iter().all(|it| it.is_finite()) {
            return Err(SpeechError::NoSound);
        }
        let rest = how.speed / native;
        let is_native = (rest - 1.0).abs() < f32::EPSILON;
        Ok(if is_native { sound } else { stretch::change_speed(&sound, rest) })
    }
}

/// Voice, speed and cancellation of an utterance.
#[derive(Debug, Clone, Copy)]
struct SpeechParameters<'s> {
    voice: &'s SpeechVoice,
    speed: f32,
    cancel: &'s CancelHandle,
}

/// The range that both models' authors give. Beyond it vowels vanish or drag.
const NATIVE_SPEEDS: std::ops::RangeInclusive<f32> = 0.5..=2.0;

fn read_file(path: &Path) -> Result<Vec<u8>, SpeechError> {
    std::fs::read(path).map_err(|error| unreadable_error(path, error))
}

fn unreadable_error(path: &Path, cause: impl std::fmt::Display) -> SpeechError {
    SpeechError::File { path: path.to_owned(), cause: cause.to_string() }
}
