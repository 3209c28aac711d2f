//! Kokoro: one graph from phonemes and a voice's style to audio.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::value::Tensor;

use super::{CancelHandle, SpeechError, SpeechVoice, read_file, unreadable_error, widen};
use crate::OnnxRuntime;

#[derive(Debug)]
pub(super) struct KokoroModel {
    session: Mutex<Session>,
    voices: PathBuf,
}

impl KokoroModel {
    pub(super) fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<KokoroModel, SpeechError> {
        let path = folder.join("kokoro-82m-fp16.onnx");
        let graph = widen::widen_model(&read_file(&path)?)
            .map_err(|cause| unreadable_error(&path, cause))?;
        let session = runtime.session_builder()?.commit_from_memory(&graph)?;
        Ok(KokoroModel { session: Mutex::new(session), voices: folder.join("voices") })
    }

    pub(super) fn synthesize(
        &self,
        ids: &[i64],
        voice: &SpeechVoice,
        speed: f32,
        cancel: &CancelHandle,
    ) -> Result<Vec<f32>, SpeechError> {
        let path = self.voices.join(format!("{}.bin", voice.name));
        let style = read_style(&path, ids.len()).map_err(|error| unreadable_error(&path, error))?;
        let inputs = ort::inputs![
            "input_ids" => Tensor::from_array(([1, ids.len()], ids.to_vec()))?,
            "style" => Tensor::from_array(([1, STYLE_VALUES], style))?,
            "speed" => Tensor::from_array(([1], vec![speed]))?,
        ];
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run_with_options(inputs, &cancel.run)?;
        let (_, sound) = outputs[0].try_extract_tensor::<f32>()?;
        Ok(sound.to_vec())
    }
}

/// A voice's file has one style vector for each number of phonemes.
const STYLE_VALUES: usize = 256;
const STYLES: usize = 510;

/// Reads the row of a voice's file for this number of ids, two of which are padding.
fn read_style(path: &Path, ids: usize) -> std::io::Result<Vec<f32>> {
    let row = ids.saturating_sub(3).min(STYLES - 1);
    let mut bytes = [0; STYLE_VALUES * size_of::<f32>()];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start((row * bytes.len()) as u64))?;
    file.read_exact(&mut bytes)?;
    let (values, _) = bytes.as_chunks::<4>();
    Ok(values.iter().map(|it| f32::from_le_bytes(*it)).collect())
}
