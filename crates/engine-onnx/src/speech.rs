//! Speech: text to sound, sentence by sentence.

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

/// Every voice speaks at this rate.
pub const SAMPLE_RATE_HZ: u32 = 24_000;
/// The most that one request may say.
pub const CHARACTERS_MAX: usize = 4096;
/// The slowest and the fastest that a voice speaks.
pub const SPEED_RANGE: std::ops::RangeInclusive<f32> = 0.25..=4.0;

/// Which model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One voice, and so small that it answers at once.
    Hibari,
    /// Many voices, ten times the work.
    Kokoro,
}

/// A loaded model that speaks. Several threads may use it; each of its sentences takes a turn.
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

/// Why nothing is said.
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
    /// Loads the model in `folder`. What it needs to read English lies in `language`.
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

    /// Those that it can really speak with, in the order of their names.
    pub fn voices(&self) -> &[Voice] {
        &self.voices
    }

    /// Says a text. Nothing is computed yet but what is needed to know that it can be said.
    pub fn speak(&self, text: &str, voice: &str, speed: f32) -> Result<Utterance<'_>, Error> {
        self.speak_until(text, voice, speed, Arc::new(Cancel::new()?))
    }

    /// The same, for somebody who may want it to stop before it has begun.
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

    /// How a text is read: the phonemes that `speak` would say.
    pub fn phonemes(&self, text: &str, voice: &str) -> Result<String, Error> {
        let accent = self.voice(voice)?.accent;
        let mut read = Vec::new();
        for sentence in phonemes::sentences(text) {
            read.push(self.language.phonemes(sentence, accent)?);
        }
        Ok(read.join(" "))
    }

    /// The sound of some phonemes at the model's own speed, with the silence around it.
    pub fn say(&self, phonemes: &str, voice: &str) -> Result<Vec<f32>, Error> {
        let voice = self.voice(voice)?;
        self.sound(phonemes, &How { voice, speed: 1.0, cancel: &Cancel::new()? })
    }

    fn voice(&self, name: &str) -> Result<&Voice, Error> {
        let known = self.voices.iter().find(|it| it.name == name);
        known.ok_or_else(|| Error::UnknownVoice(name.to_owned()))
    }

    /// The sound of some phonemes. Speeds outside of the range that the models were trained for
    /// are theirs only in part: the rest is stretched.
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

/// How something is said.
#[derive(Debug, Clone, Copy)]
struct How<'s> {
    voice: &'s Voice,
    speed: f32,
    cancel: &'s Cancel,
}

/// Both models' authors give this range. Beyond it vowels vanish or drag.
const NATIVE_SPEEDS: std::ops::RangeInclusive<f32> = 0.5..=2.0;

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, cause: impl std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), cause: cause.to_string() }
}
