//! Loads text models: the llama.cpp library with its GPU backend, then the GGUF file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use engine_text::{
    GpuBackend, LlamaLibrary, LoadError, ModelWeights, TextModel, TextModelSettings,
};
use weights::gguf;

use super::LoadSettings;
use super::gpu::{GpuPlacement, ModelSize};
use super::loaded_model::{
    LoadParameters, MemoryReclaimer, ModelHandle, ModelRuntime, find_library, refuse_broken_model,
};
use crate::refusal::EngineRefusal;
use crate::{LocalEngineOptions, TextDevice};

/// The manifest id of the llama.cpp library.
const LLAMA_LIBRARY: &str = "llama-cpp";
/// The manifest id of CUDA's libraries, for machines without them.
const CUDA_RUNTIME: &str = "cuda-runtime";
/// Libraries that the CUDA backend needs, in order of dependency.
const CUDA_NEEDS: [&str; 3] = ["libcudart.so.12", "libcublasLt.so.12", "libcublas.so.12"];
/// Typical number of layers, for files that do not state it.
const LAYERS_USUAL: u32 = 32;

/// The operator's GPU settings.
#[derive(Debug, Clone)]
pub(crate) struct GpuSettings {
    device: TextDevice,
    layers: Option<u32>,
    cuda_dir: Option<PathBuf>,
    /// Set after a load with a GPU killed the previous process.
    are_given_up: Arc<AtomicBool>,
}

impl GpuSettings {
    pub(crate) fn from_options(options: &LocalEngineOptions) -> GpuSettings {
        let LocalEngineOptions { device, gpu_layers, cuda_dir, .. } = options;
        GpuSettings {
            device: *device,
            layers: *gpu_layers,
            cuda_dir: cuda_dir.clone(),
            are_given_up: Arc::default(),
        }
    }

    fn are_used(&self) -> bool {
        self.device != TextDevice::Cpu && !self.are_given_up.load(Ordering::Relaxed)
    }

    /// Disables GPUs until the process ends; the next process tries them again.
    fn disable_gpus(&self, id: &str) {
        if self.are_used()
            && LlamaLibrary::loaded_library().is_some_and(|it| !it.list_gpus().is_empty())
        {
            self.are_given_up.store(true, Ordering::Relaxed);
            tracing::warn!(
                "text models run on the processor until the engine's next start: it ended while it \
                 loaded {id} with the GPU"
            );
        }
    }
}

pub(super) fn load_text_model(
    attempt: &LoadParameters<'_, impl MemoryReclaimer>,
) -> Result<ModelHandle, EngineRefusal> {
    let LoadParameters { found, settings, limits, .. } = *attempt;
    // Validates the file first, because llama.cpp aborts the process on some invalid files.
    let facts = gguf::read_metadata(&found.path).map_err(|error| {
        refuse_broken_model(format!("{} is broken: {error}", found.path.display()))
    })?;
    let size = ModelSize { bytes: facts.bytes, layers: facts.layers.unwrap_or(LAYERS_USUAL) + 1 };
    let llama = load_llama(settings)?;
    if attempt.ended_before {
        settings.gpus.disable_gpus(&found.id);
    }
    let mut placement = if settings.gpus.are_used() {
        place_on_gpus(attempt, llama, size)
    } else {
        GpuPlacement::on_processor(limits)
    };
    loop {
        match start_model(attempt, llama, placement) {
            Ok(loaded) => return Ok(loaded),
            Err(TextLoadError::Refused(refusal)) => return Err(refusal),
            Err(TextLoadError::Failed(error)) if placement.gpu_layers == 0 => {
                return Err(refuse_broken_model(error));
            }
            Err(TextLoadError::Failed(error)) => {
                let tried = placement.gpu_layers;
                placement = placement.with_fewer(size, limits);
                tracing::warn!(
                    "{} did not load with {tried} layers on the GPU ({error}); tried with {}",
                    found.id,
                    placement.gpu_layers
                );
            }
        }
    }
}

/// Unloads unused models from the GPUs while this one does not fit entirely.
fn place_on_gpus(
    attempt: &LoadParameters<'_, impl MemoryReclaimer>,
    library: &LlamaLibrary,
    size: ModelSize,
) -> GpuPlacement {
    let LoadParameters { settings, limits, room, .. } = *attempt;
    let layers = settings.gpus.layers;
    loop {
        let gpus = library.list_gpus();
        let placement = GpuPlacement::fit_gpus(&gpus, size, layers, limits);
        let has_room = gpus.is_empty() || layers.is_some() || placement.gpu_layers == size.layers;
        if has_room || !room.free_gpu_memory() {
            return placement;
        }
    }
}

enum TextLoadError {
    Refused(EngineRefusal),
    /// May succeed with fewer layers on GPUs.
    Failed(LoadError),
}

fn start_model(
    attempt: &LoadParameters<'_, impl MemoryReclaimer>,
    library: &'static LlamaLibrary,
    placement: GpuPlacement,
) -> Result<ModelHandle, TextLoadError> {
    let LoadParameters { found, limits, room, .. } = *attempt;
    let weights = ModelWeights::open(library, &found.path, placement.gpu_layers)
        .map_err(TextLoadError::Failed)?;
    let settings = TextModelSettings {
        threads: limits.threads,
        adapts_threads: limits.adapts_threads,
        parallel: placement.parallel,
        context_tokens_max: None,
        cache_bytes_max: placement.cache_bytes_max,
    };
    let memory_bytes = weights.host_bytes(&settings).map_err(TextLoadError::Failed)?;
    room.free_memory(memory_bytes).map_err(TextLoadError::Refused)?;
    let model = TextModel::start(weights, &settings).map_err(TextLoadError::Failed)?;
    Ok(ModelHandle { model: ModelRuntime::Text(Arc::new(model)), memory_bytes })
}

/// Loads the operator's library, or the downloaded one, with the backend for this machine's GPUs.
fn load_llama(settings: &LoadSettings) -> Result<&'static LlamaLibrary, EngineRefusal> {
    let path = match &settings.llama_library {
        Some(path) => path.clone(),
        None => find_library(&settings.models_dir, LLAMA_LIBRARY)?,
    };
    let llama = LlamaLibrary::load(&path).map_err(refuse_broken_model)?;
    add_gpus(llama, settings);
    Ok(llama)
}

/// Adds the GPU backend once per process, when it is available; without it models run on the CPU.
fn add_gpus(llama: &LlamaLibrary, settings: &LoadSettings) {
    static ADDED: OnceLock<()> = OnceLock::new();
    let Some(entry) = settings.gpus.device.backend_id() else { return };
    if ADDED.get().is_some() {
        return;
    }
    let file = match find_library(&settings.models_dir, entry) {
        Ok(file) => file,
        Err(refusal) => {
            tracing::warn!("text models run on the CPU: {}", refusal.message());
            return;
        }
    };
    let needs = match settings.gpus.device {
        TextDevice::Cuda => cuda_library_paths(settings),
        TextDevice::Auto | TextDevice::Cpu | TextDevice::Vulkan => Vec::new(),
    };
    // A second attempt in the same process would fail the same way.
    let _ = ADDED.set(());
    match llama.load_gpu_backend(&GpuBackend { file, needs }) {
        Ok(()) => {
            for gpu in llama.list_gpus() {
                let gigabytes = |bytes: u64| bytes / 1_000_000_000;
                tracing::info!(
                    "text models run on {} ({}), {} of {} GB free",
                    gpu.name,
                    gpu.model,
                    gigabytes(gpu.free_bytes),
                    gigabytes(gpu.total_bytes)
                );
            }
            if llama.list_gpus().is_empty() {
                tracing::warn!("text models run on the CPU: the driver reports no GPU");
            }
        }
        Err(cause) => tracing::warn!("text models run on the CPU: {cause}"),
    }
}

/// Paths of CUDA's libraries, because the system's loader finds them only if they are installed
/// system-wide.
fn cuda_library_paths(settings: &LoadSettings) -> Vec<PathBuf> {
    let fetched = || weights::verify_installed_model(&settings.models_dir, CUDA_RUNTIME).ok();
    let folder = settings.gpus.cuda_dir.clone().or_else(fetched);
    folder.map(|folder| CUDA_NEEDS.map(|name| folder.join(name)).to_vec()).unwrap_or_default()
}
