//! Hibari: a graph from phonemes to a spectrum, and a vocoder.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::value::Tensor;

use super::vocoder::{Spectrum, Vocoder};
use super::{Cancel, Error};
use crate::Runtime;

#[derive(Debug)]
pub(super) struct Hibari {
    session: Mutex<Session>,
    vocoder: Vocoder,
}

impl Hibari {
    pub(super) fn load(runtime: &Runtime, folder: &Path) -> Result<Hibari, Error> {
        let session = runtime.session(&folder.join("hibari.onnx"))?;
        Ok(Hibari { session: Mutex::new(session), vocoder: Vocoder::new() })
    }

    pub(super) fn sound(
        &self,
        ids: &[i64],
        speed: f32,
        cancel: &Cancel,
    ) -> Result<Vec<f32>, Error> {
        let inputs = ort::inputs![
            "ids" => Tensor::from_array(([1, ids.len()], ids.to_vec()))?,
            "speed" => Tensor::from_array(([1], vec![speed]))?,
        ];
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run_with_options(inputs, &cancel.run)?;
        let part = |name: &str| Ok::<_, ort::Error>(outputs[name].try_extract_tensor::<f32>()?.1);
        let spectrum = Spectrum {
            harmonic: part("lh")?,
            harmonic_phase: part("theta")?,
            noise: part("ln")?,
            rest: part("lr")?,
            rest_phase: part("phi")?,
            pitch_hz: part("f0")?,
        };
        self.vocoder.sound(&spectrum).ok_or(Error::NoSound)
    }
}
