//! Hibari: a graph from phonemes to a spectrum, and a vocoder.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::value::Tensor;

use super::vocoder::{SpectrumVocoder, VoiceSpectrum};
use super::{CancelHandle, SpeechError};
use crate::OnnxRuntime;

#[derive(Debug)]
pub(super) struct HibariModel {
    session: Mutex<Session>,
    vocoder: SpectrumVocoder,
}

impl HibariModel {
    pub(super) fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<HibariModel, SpeechError> {
        let session = runtime.create_session(&folder.join("hibari.onnx"))?;
        Ok(HibariModel { session: Mutex::new(session), vocoder: SpectrumVocoder::new() })
    }

    pub(super) fn synthesize(
        &self,
        ids: &[i64],
        speed: f32,
        cancel: &CancelHandle,
    ) -> Result<Vec<f32>, SpeechError> {
        let inputs = ort::inputs![
            "ids" => Tensor::from_array(([1, ids.len()], ids.to_vec()))?,
            "speed" => Tensor::from_array(([1], vec![speed]))?,
        ];
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run_with_options(inputs, &cancel.run)?;
        let part = |name: &str| Ok::<_, ort::Error>(outputs[name].try_extract_tensor::<f32>()?.1);
        let spectrum = VoiceSpectrum {
            harmonic: part("lh")?,
            harmonic_phase: part("theta")?,
            noise: part("ln")?,
            rest: part("lr")?,
            rest_phase: part("phi")?,
            pitch_hz: part("f0")?,
        };
        self.vocoder.synthesize(&spectrum).ok_or(SpeechError::NoSound)
    }
}
