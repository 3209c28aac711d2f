//! A model in memory, of any kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine_onnx::Runtime;
use engine_onnx::embedding::Embedder;
use engine_onnx::pictor::Painter;
use engine_onnx::speech::{self, Speaker};
use engine_onnx::tools::cut_out::Cutter;
use engine_onnx::tools::erase::Eraser;
use engine_onnx::tools::safety::Judge;
use engine_onnx::tools::upscale::Upscaler;
use engine_onnx::transcription::{self, Transcriber};
use engine_text::TextModel;
use weights::Missing;

use super::{FoundModel, Limits, LoadSettings, ModelKind, text};
use crate::refusal::Refusal;

/// The manifest id of the ONNX Runtime library.
const ONNX_LIBRARY: &str = "onnxruntime";
/// The manifest id whose files all voices need to read English.
const LANGUAGE: &str = "tts-hibari";
/// The manifest id of the text encoder for image prompts.
const PROMPTS: &str = "all-minilm-l6-v2";

/// Cheap to clone; dropping the last clone frees the memory.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) model: Model,
    /// Bytes of main memory.
    pub(super) memory_bytes: u64,
}

#[derive(Clone)]
pub(crate) enum Model {
    Text(Arc<TextModel>),
    Embedding(Arc<Embedder>),
    Transcription(Arc<Transcriber>),
    Speech(Arc<Speaker>),
    Image(Arc<Painter>),
    Upscale(Arc<Upscaler>),
    CutOut(Arc<Cutter>),
    Erase(Arc<Eraser>),
    Safety(Arc<Judge>),
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Loaded").field("memory_bytes", &self.memory_bytes).finish()
    }
}

impl Loaded {
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Layers on GPUs and total layers; `None` if all run on the CPU.
    pub(crate) fn gpu_layers(&self) -> Option<(u32, u32)> {
        match &self.model {
            Model::Text(model) if 0 < model.gpu_layers().0 => Some(model.gpu_layers()),
            _ => None,
        }
    }

    /// True if only the registry holds the model.
    pub(crate) fn is_unused(&self) -> bool {
        let holders = match &self.model {
            Model::Text(model) => Arc::strong_count(model),
            Model::Embedding(model) => Arc::strong_count(model),
            Model::Transcription(model) => Arc::strong_count(model),
            Model::Speech(model) => Arc::strong_count(model),
            Model::Image(model) => Arc::strong_count(model),
            Model::Upscale(model) => Arc::strong_count(model),
            Model::CutOut(model) => Arc::strong_count(model),
            Model::Erase(model) => Arc::strong_count(model),
            Model::Safety(model) => Arc::strong_count(model),
        };
        holders == 1
    }
}

/// Frees memory by unloading unused models.
pub(crate) trait Room {
    /// Frees main memory for `bytes`, before they are allocated.
    fn make(&self, bytes: u64) -> Result<(), Refusal>;
    /// Frees the GPU memory of one model. False if no model can be unloaded.
    fn make_on_gpus(&self) -> bool;
}

/// The parameters of one attempt to load a model.
pub(crate) struct Attempt<'a, R> {
    pub(crate) found: &'a FoundModel,
    pub(crate) settings: &'a LoadSettings,
    pub(crate) limits: &'a Limits,
    pub(crate) room: &'a R,
    /// Set if the previous attempt killed the process.
    pub(crate) ended_before: bool,
}

/// Loads a model from disk.
pub(crate) fn load(attempt: &Attempt<'_, impl Room>) -> Result<Loaded, Refusal> {
    let Attempt { found, settings, limits, room, .. } = *attempt;
    if found.kind == ModelKind::Text {
        return text::load(attempt);
    }
    let models_dir = &settings.models_dir;
    let memory_bytes = graph_memory_bytes(found, folder_bytes(&found.path));
    room.make(memory_bytes)?;
    let model = load_graph(found, &runtime(models_dir, limits)?, models_dir)?;
    Ok(Loaded { model, memory_bytes })
}

fn load_graph(found: &FoundModel, runtime: &Runtime, models_dir: &Path) -> Result<Model, Refusal> {
    let folder = &found.path;
    match found.kind {
        ModelKind::Embedding => {
            let model = Embedder::load(runtime, folder).map_err(broken)?;
            Ok(Model::Embedding(Arc::new(model)))
        }
        ModelKind::Transcription => {
            let kind = if is_whisper(found) {
                transcription::Kind::Whisper
            } else {
                transcription::Kind::Moonshine
            };
            let model = Transcriber::load(runtime, folder, kind).map_err(broken)?;
            Ok(Model::Transcription(Arc::new(model)))
        }
        ModelKind::Image | ModelKind::Video | ModelKind::Edit => {
            let prompts = weights::folder(models_dir, PROMPTS);
            let model = Painter::load(runtime, &prompts).map_err(broken)?;
            Ok(Model::Image(Arc::new(model)))
        }
        ModelKind::Upscale => {
            let model = if is_compact(found) {
                Upscaler::compact(runtime)
            } else {
                Upscaler::load(runtime, folder)
            };
            Ok(Model::Upscale(Arc::new(model.map_err(broken)?)))
        }
        ModelKind::CutOut => {
            let model = Cutter::load(runtime, folder).map_err(broken)?;
            Ok(Model::CutOut(Arc::new(model)))
        }
        ModelKind::Erase => {
            let model = Eraser::load(runtime, folder).map_err(broken)?;
            Ok(Model::Erase(Arc::new(model)))
        }
        ModelKind::Safety => {
            let model = Judge::load(runtime, folder).map_err(broken)?;
            Ok(Model::Safety(Arc::new(model)))
        }
        ModelKind::Speech | ModelKind::Text => {
            let kind = if is_kokoro(found) { speech::Kind::Kokoro } else { speech::Kind::Hibari };
            let language = weights::folder(models_dir, LANGUAGE);
            let model = Speaker::load(runtime, kind, folder, &language).map_err(broken)?;
            Ok(Model::Speech(Arc::new(model)))
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

fn runtime(models_dir: &Path, limits: &Limits) -> Result<Runtime, Refusal> {
    Runtime::load(&library(models_dir, ONNX_LIBRARY)?, limits.threads).map_err(broken)
}

/// The first file of an entry is the library itself; its dependencies follow.
pub(super) fn library(models_dir: &Path, id: &str) -> Result<PathBuf, Refusal> {
    let folder = weights::verified(models_dir, id).map_err(|missing| match missing {
        Missing::NotFetched { .. } => {
            Refusal::unavailable("model_not_fetched", missing.to_string())
        }
        other => broken(other),
    })?;
    let file = weights::manifest().model(id).and_then(|entry| entry.files.first());
    let file = file.ok_or_else(|| broken("the manifest names no library"))?;
    Ok(folder.join(&file.name))
}

/// Size of the files directly in the folder. Voices are in a subfolder and are read on demand.
fn folder_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|it| it.len()).sum()
}

/// Logs the reason and returns an error: only the operator can repair a model.
pub(super) fn broken(error: impl std::fmt::Display) -> Refusal {
    tracing::error!("cannot load a model: {error}");
    Refusal::broken_model(format!("The model cannot be loaded: {error}"))
}
