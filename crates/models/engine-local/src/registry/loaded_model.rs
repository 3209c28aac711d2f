//! A model in memory, of any kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine_onnx::OnnxRuntime;
use engine_onnx::embedding::TextEmbedder;
use engine_onnx::pictor::PictorModel;
use engine_onnx::speech::{self, SpeechSynthesizer};
use engine_onnx::tools::cut_out::BackgroundRemover;
use engine_onnx::tools::erase::ObjectEraser;
use engine_onnx::tools::safety::NsfwClassifier;
use engine_onnx::tools::upscale::ImageUpscaler;
use engine_onnx::transcription::{self, SpeechTranscriber};
use engine_text::TextModel;
use weights::ModelUnavailable;

use super::{FoundModel, LoadSettings, ModelKind, ModelLimits, text};
use crate::refusal::EngineRefusal;

/// The manifest id of the ONNX Runtime library.
const ONNX_LIBRARY: &str = "onnxruntime";
/// The manifest id whose files all voices need to read English.
const LANGUAGE: &str = "tts-hibari";
/// The manifest id of the text encoder for image prompts.
const PROMPTS: &str = "all-minilm-l6-v2";

/// Cheap to clone; dropping the last clone frees the memory.
#[derive(Clone)]
pub(crate) struct ModelHandle {
    pub(crate) model: ModelRuntime,
    /// Bytes of main memory.
    pub(super) memory_bytes: u64,
}

#[derive(Clone)]
pub(crate) enum ModelRuntime {
    Text(Arc<TextModel>),
    Embedding(Arc<TextEmbedder>),
    Transcription(Arc<SpeechTranscriber>),
    Speech(Arc<SpeechSynthesizer>),
    Image(Arc<PictorModel>),
    Upscale(Arc<ImageUpscaler>),
    CutOut(Arc<BackgroundRemover>),
    Erase(Arc<ObjectEraser>),
    Safety(Arc<NsfwClassifier>),
    /// A thread in place of a model, for tests.
    #[cfg(test)]
    Thread(Arc<std::thread::JoinHandle<()>>),
}

impl std::fmt::Debug for ModelHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Loaded").field("memory_bytes", &self.memory_bytes).finish()
    }
}

impl ModelHandle {
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Layers on GPUs and total layers; `None` if all run on the CPU.
    pub(crate) fn gpu_layers(&self) -> Option<(u32, u32)> {
        match &self.model {
            ModelRuntime::Text(model) if 0 < model.gpu_layers().0 => Some(model.gpu_layers()),
            _ => None,
        }
    }

    /// True if only the registry holds the model.
    pub(crate) fn is_unused(&self) -> bool {
        let holders = match &self.model {
            ModelRuntime::Text(model) => Arc::strong_count(model),
            ModelRuntime::Embedding(model) => Arc::strong_count(model),
            ModelRuntime::Transcription(model) => Arc::strong_count(model),
            ModelRuntime::Speech(model) => Arc::strong_count(model),
            ModelRuntime::Image(model) => Arc::strong_count(model),
            ModelRuntime::Upscale(model) => Arc::strong_count(model),
            ModelRuntime::CutOut(model) => Arc::strong_count(model),
            ModelRuntime::Erase(model) => Arc::strong_count(model),
            ModelRuntime::Safety(model) => Arc::strong_count(model),
            #[cfg(test)]
            ModelRuntime::Thread(thread) => Arc::strong_count(thread),
        };
        holders == 1
    }

    /// True if the model has a thread, and a panic has ended it.
    pub(crate) fn is_stopped(&self) -> bool {
        match &self.model {
            ModelRuntime::Text(model) => model.is_stopped(),
            ModelRuntime::Embedding(model) => model.is_stopped(),
            #[cfg(test)]
            ModelRuntime::Thread(thread) => thread.is_finished(),
            ModelRuntime::Transcription(_)
            | ModelRuntime::Speech(_)
            | ModelRuntime::Image(_)
            | ModelRuntime::Upscale(_)
            | ModelRuntime::CutOut(_)
            | ModelRuntime::Erase(_)
            | ModelRuntime::Safety(_) => false,
        }
    }
}

/// Frees memory by unloading unused models.
pub(crate) trait MemoryReclaimer {
    /// Frees main memory for `bytes`, before they are allocated.
    fn free_memory(&self, bytes: u64) -> Result<(), EngineRefusal>;
    /// Frees the GPU memory of one model. False if no model can be unloaded.
    fn free_gpu_memory(&self) -> bool;
}

/// The parameters of one attempt to load a model.
pub(crate) struct LoadParameters<'a, R> {
    pub(crate) found: &'a FoundModel,
    pub(crate) settings: &'a LoadSettings,
    pub(crate) limits: &'a ModelLimits,
    pub(crate) room: &'a R,
    /// Set if the previous attempt killed the process.
    pub(crate) ended_before: bool,
}

/// Loads a model from disk.
pub(crate) fn load_model(
    attempt: &LoadParameters<'_, impl MemoryReclaimer>,
) -> Result<ModelHandle, EngineRefusal> {
    let LoadParameters { found, settings, limits, room, .. } = *attempt;
    if found.kind == ModelKind::Text {
        return text::load_text_model(attempt);
    }
    let models_dir = &settings.models_dir;
    let memory_bytes = graph_memory_bytes(found, folder_bytes(&found.path));
    room.free_memory(memory_bytes)?;
    let model = load_graph(found, &load_runtime(models_dir, limits)?, models_dir)?;
    Ok(ModelHandle { model, memory_bytes })
}

fn load_graph(
    found: &FoundModel,
    runtime: &OnnxRuntime,
    models_dir: &Path,
) -> Result<ModelRuntime, EngineRefusal> {
    let folder = &found.path;
    match found.kind {
        ModelKind::Embedding => {
            let model = TextEmbedder::load(runtime, folder).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Embedding(Arc::new(model)))
        }
        ModelKind::Transcription => {
            let kind = if is_whisper(found) {
                transcription::TranscriptionModelKind::Whisper
            } else {
                transcription::TranscriptionModelKind::Moonshine
            };
            let model =
                SpeechTranscriber::load(runtime, folder, kind).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Transcription(Arc::new(model)))
        }
        ModelKind::Image | ModelKind::Video | ModelKind::Edit => {
            let prompts = weights::model_folder(models_dir, PROMPTS);
            let model = PictorModel::load(runtime, &prompts).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Image(Arc::new(model)))
        }
        ModelKind::Upscale => {
            let model = if is_compact(found) {
                ImageUpscaler::load_compact(runtime)
            } else {
                ImageUpscaler::load(runtime, folder)
            };
            Ok(ModelRuntime::Upscale(Arc::new(model.map_err(refuse_broken_model)?)))
        }
        ModelKind::CutOut => {
            let model = BackgroundRemover::load(runtime, folder).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::CutOut(Arc::new(model)))
        }
        ModelKind::Erase => {
            let model = ObjectEraser::load(runtime, folder).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Erase(Arc::new(model)))
        }
        ModelKind::Safety => {
            let model = NsfwClassifier::load(runtime, folder).map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Safety(Arc::new(model)))
        }
        ModelKind::Speech | ModelKind::Text => {
            let kind = if is_kokoro(found) {
                speech::SpeechModelKind::Kokoro
            } else {
                speech::SpeechModelKind::Hibari
            };
            let language = weights::model_folder(models_dir, LANGUAGE);
            let model = SpeechSynthesizer::load(runtime, kind, folder, &language)
                .map_err(refuse_broken_model)?;
            Ok(ModelRuntime::Speech(Arc::new(model)))
        }
    }
}

/// The peak memory of a graph while it is loaded or first used: a multiple of its files plus
/// working memory, which includes ONNX Runtime and its arena. Measured as the growth of the process
/// (test `no_model_takes_more_than_it_says`): MiniLM 473 MB, Hibari 120, Kokoro 1,281, Moonshine
/// tiny 226, Whisper tiny 604; with the largest image U²-Net 624, MI-GAN 825.
fn graph_memory_bytes(found: &FoundModel, files_bytes: u64) -> u64 {
    let (factor, working_mb): (u64, u64) = match found.kind {
        // Its weights are stored in half precision and widened when they are loaded.
        ModelKind::Speech if is_kokoro(found) => (8, 192),
        // It always processes 30 s of audio at once.
        ModelKind::Transcription if is_whisper(found) => (4, 560),
        ModelKind::Transcription => (2, 192),
        // Many inputs are processed in one batch.
        ModelKind::Embedding => (2, 416),
        // Its weights are embedded in the binary and widened to four bytes per number.
        ModelKind::Image | ModelKind::Video | ModelKind::Edit => (0, 640),
        ModelKind::Upscale if is_compact(found) => (0, 512),
        ModelKind::Upscale => (3, 512),
        // Measured with the largest image that they accept.
        ModelKind::CutOut => (2, 768),
        ModelKind::Erase => (3, 896),
        ModelKind::Safety => (3, 64),
        ModelKind::Speech | ModelKind::Text => (2, 144),
    };
    files_bytes.saturating_mul(factor).saturating_add(working_mb << 20)
}

fn is_whisper(found: &FoundModel) -> bool {
    found.kind == ModelKind::Transcription && found.id.starts_with("whisper")
}

/// The upscaler whose weights are embedded in the binary.
fn is_compact(found: &FoundModel) -> bool {
    found.kind == ModelKind::Upscale && found.id.ends_with("compact")
}

fn is_kokoro(found: &FoundModel) -> bool {
    found.kind == ModelKind::Speech && found.id.ends_with("kokoro")
}

fn load_runtime(models_dir: &Path, limits: &ModelLimits) -> Result<OnnxRuntime, EngineRefusal> {
    OnnxRuntime::load(&find_library(models_dir, ONNX_LIBRARY)?, limits.threads)
        .map_err(refuse_broken_model)
}

/// The first file of an entry is the library itself; its dependencies follow.
pub(super) fn find_library(models_dir: &Path, id: &str) -> Result<PathBuf, EngineRefusal> {
    let folder =
        weights::verify_installed_model(models_dir, id).map_err(|missing| match missing {
            ModelUnavailable::NotFetched { .. } => {
                EngineRefusal::unavailable("model_not_fetched", missing.to_string())
            }
            other => refuse_broken_model(other),
        })?;
    let file = weights::embedded_manifest().find_model(id).and_then(|entry| entry.files.first());
    let file = file.ok_or_else(|| refuse_broken_model("the manifest names no library"))?;
    Ok(folder.join(&file.name))
}

/// Size of the files directly in the folder. Voices are in a subfolder and are read on demand.
fn folder_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|it| it.len()).sum()
}

/// Logs the reason and returns an error: only the operator can repair a model.
pub(super) fn refuse_broken_model(error: impl std::fmt::Display) -> EngineRefusal {
    tracing::error!("cannot load a model: {error}");
    EngineRefusal::broken_model(format!("The model cannot be loaded: {error}"))
}
