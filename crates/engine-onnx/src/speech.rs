//! Text to speech, sentence by sentence.

mod edges;
mod hibari;
mod kokoro;
mod language;
mod spelling;
mod stretch;
mod utterance;
mod vocoder;
mod voices;
mod widen;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use utterance::Manner;
pub use utterance::{Cancel, Utterance};
pub use voices::{Accent, Voice};

use crate::Runtime;
use language::Language;

/// Sample rate of all voices.
pub const SAMPLE_RATE_HZ: u32 = 24_000;
/// Maximum characters per request.
pub const CHARACTERS_MAX: usize = 4096;
/// Supported speeds, as a factor.
pub const SPEED_RANGE: std::ops::RangeInclusive<f32> = 0.25..=4.0;

/// The speech models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One voice; small and fast.
    Hibari,
    /// Many voices; ten times the work.
    Kokoro,
}

/// A loaded speech model. Threads share it; they take turns per piece of text.
#[derive(Debug)]
pub struct Speaker {
    model: Model,
    voices: Vec<Voice>,
    language: Language,
}

#[derive(Debug)]
enum Model {
    Hibari(hibari::Hibari),
    Kokoro(kokoro::Kokoro),
}

/// Errors of speech.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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
    Engine(#[from] crate::Error),
    #[error("the model gave no sound")]
    NoSound,
}

impl From<ort::Error> for Error {
    fn from(error: ort::Error) -> Error {
        Error::Engine(crate::Error::Run(error))
    }
}

impl Speaker {
    /// Loads the model in `folder`. `language` is the folder with the files for reading English.
    pub fn load(
        runtime: &Runtime,
        kind: Kind,
        folder: &Path,
        language: &Path,
    ) -> Result<Speaker, Error> {
        let (model, voices) = match kind {
            Kind::Hibari => {
                (Model::Hibari(hibari::Hibari::load(runtime, folder)?), voices::hibari())
            }
            Kind::Kokoro => {
                (Model::Kokoro(kokoro::Kokoro::load(runtime, folder)?), voices::kokoro(folder)?)
            }
        };
        Ok(Speaker { model, voices, language: Language::new(runtime, language) })
    }

    /// The usable voices, sorted by name.
    pub fn voices(&self) -> &[Voice] {
        &self.voices
    }

    /// Starts to speak a text. Only the first sentence with sound is read; audio is computed on
    /// demand.
    pub fn speak(&self, text: &str, voice: &str, speed: f32) -> Result<Utterance<'_>, Error> {
        self.speak_until(text, voice, speed, Arc::new(Cancel::new()?))
    }

    /// As [`Speaker::speak`], with a given cancellation handle.
    pub fn speak_until(
        &self,
        text: &str,
        voice: &str,
        speed: f32,
        cancel: Arc<Cancel>,
    ) -> Result<Utterance<'_>, Error> {
        let characters = text.chars().count();
        if CHARACTERS_MAX < characters {
            return Err(Error::TooLong { characters });
        }
        if !SPEED_RANGE.contains(&speed) {
            return Err(Error::Speed { speed });
        }
        Utterance::new(self, text, Manner { voice: self.voice(voice)?, speed }, cancel)
    }

    /// The phonemes that `speak` would say.
    pub fn phonemes(&self, text: &str, voice: &str) -> Result<String, Error> {
        let accent = self.voice(voice)?.accent;
        let mut read = Vec::new();
        for sentence in phonemes::sentences(text) {
            read.push(self.language.phonemes(sentence, accent)?);
        }
        Ok(read.join(" "))
    }

    /// The audio of some phonemes at normal speed, including the silence around it.
    pub fn say(&self, phonemes: &str, voice: &str) -> Result<Vec<f32>, Error> {
        let voice = self.voice(voice)?;
        self.sound(phonemes, &How { voice, speed: 1.0, cancel: &Cancel::new()? })
    }

    fn voice(&self, name: &str) -> Result<&Voice, Error> {
        let known = self.voices.iter().find(|it| it.name == name);
        known.ok_or_else(|| Error::UnknownVoice(name.to_owned()))
    }

    /// The audio of some phonemes. Speeds outside of the models' range are clamped to it; time
    /// stretching does the rest.
    fn sound(&self, phonemes: &str, how: &How<'_>) -> Result<Vec<f32>, Error> {
        let native = how.speed.clamp(*NATIVE_SPEEDS.start(), *NATIVE_SPEEDS.end());
        let ids = phonemes::ids(phonemes);
        let sound = match &self.model {
            Model::Hibari(model) => model.sound(&ids, native, how.cancel)?,
            Model::Kokoro(model) => model.sound(&ids, how.voice, native, how.cancel)?,
        };
        if !sound.iter().all(|it| it.is_finite()) {
            return Err(Error::NoSound);
        }
        let rest = how.speed / native;
        let is_native = (rest - 1.0).abs() < f32::EPSILON;
        Ok(if is_native { sound } else { stretch::faster(&sound, rest) })
    }
}

/// Voice, speed and cancellation of an utterance.
#[derive(Debug, Clone, Copy)]
struct How<'s> {
    voice: &'s Voice,
    speed: f32,
    cancel: &'s Cancel,
}

/// The range that both models' authors give. Beyond it vowels vanish or drag.
const NATIVE_SPEEDS: std::ops::RangeInclusive<f32> = 0.5..=2.0;

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, cause: impl std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), cause: cause.to_string() }
}
