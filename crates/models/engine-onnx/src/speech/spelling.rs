//! A small model that predicts the pronunciation of an unknown word from its letters.

use std::collections::HashMap;
use std::path::Path;

use ort::session::Session;
use ort::value::Tensor;
use serde::Deserialize;

use super::{SpeechError, read_file, unreadable_error};
use crate::OnnxRuntime;

#[derive(Debug)]
pub(super) struct SpellingModel {
    session: Session,
    letters: HashMap<char, i64>,
    phonemes: Vec<char>,
    letters_max: usize,
}

/// The file beside the model: its alphabets, with ids from 1.
#[derive(Deserialize)]
struct SpellingAlphabets {
    #[serde(rename = "in")]
    letters: Vec<char>,
    out: Vec<char>,
    maxlen: usize,
}

impl SpellingModel {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        folder: &Path,
        name: &str,
    ) -> Result<SpellingModel, SpeechError> {
        let path = folder.join(format!("{name}.json"));
        let alphabets: SpellingAlphabets = serde_json::from_slice(&read_file(&path)?)
            .map_err(|error| unreadable_error(&path, error))?;
        Ok(SpellingModel {
            session: runtime.create_session(&folder.join(format!("{name}.onnx")))?,
            letters: alphabets.letters.into_iter().zip(1..).collect(),
            phonemes: alphabets.out,
            letters_max: alphabets.maxlen,
        })
    }

    /// Decodes the model's output (CTC): a phoneme or a blank (0) per position, with repeats
    /// merged.
    fn predict_phonemes(&mut self, letters: Vec<i64>) -> Result<String, ort::Error> {
        let input = Tensor::from_array(([1, letters.len()], letters))?;
        let outputs = self.session.run(ort::inputs!["chars" => input])?;
        let (_, places) = outputs[0].try_extract_tensor::<i64>()?;
        let mut phonemes = String::new();
        let mut previous = 0;
        for place in places {
            if *place != previous {
                let index = usize::try_from(*place - 1).ok();
                phonemes.extend(index.and_then(|it| self.phonemes.get(it)));
            }
            previous = *place;
        }
        Ok(phonemes)
    }
}

impl phonemes::UnknownWordModel for SpellingModel {
    /// Splits a long word into parts of the length that the model was trained for. A part that the
    /// model fails on is skipped, so that the rest of the sentence is still spoken.
    fn pronounce(&mut self, word: &str) -> Option<String> {
        let letters: Vec<i64> =
            word.chars().filter_map(|it| self.letters.get(&it).copied()).collect();
        let parts: Vec<String> = letters
            .chunks(self.letters_max.max(1))
            .filter_map(|part| self.predict_phonemes(part.to_vec()).ok())
            .collect();
        Some(parts.concat()).filter(|it| !it.is_empty())
    }
}
