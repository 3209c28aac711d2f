//! Loads text models: the llama.cpp library with its GPU backend, then the GGUF file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use engine_text::{GpuPart, Library, LoadError, Settings, TextModel, Weights};
use weights::gguf;

use super::gpu::{Placement, Size};
use super::loaded::{Attempt, Loaded, Model, Room, broken, library};
use super::{Limits, LoadSettings};
use crate::refusal::Refusal;
use crate::{Device, Options};

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
pub(crate) struct Gpus {
    device: Device,
    layers: Option<u32>,
    cuda_dir: Option<PathBuf>,
    /// Set after a load with a GPU killed the previous process.
    are_given_up: Arc<AtomicBool>,
}

impl Gpus {
    pub(crate) fn of(options: &Options) -> Gpus {
        let Options { device, gpu_layers, cuda_dir, .. } = options;
        Gpus {
            device: *device,
            layers: *gpu_layers,
            cuda_dir: cuda_dir.clone(),
            are_given_up: Arc::default(),
        }
    }

    fn are_used(&self) -> bool {
        self.device != Device::Cpu && !self.are_given_up.load(Ordering::Relaxed)
    }

    /// Disables GPUs until the process ends; the next process tries them again.
    fn give_up(&self, id: &str) {
        if self.are_used() && Library::loaded().is_some_and(|it| !it.gpus().is_empty()) {
            self.are_given_up.store(true, Ordering::Relaxed);
            tracing::warn!(
                "text models run on the processor until the engine's next start: it ended while it \
                 loaded {id} with the GPU"
            );
        }
    }
}

pub(super) fn load(attempt: &Attempt<'_, impl Room>) -> Result<Loaded, Refusal> {
    let Attempt { found, settings, limits, room, .. } = *attempt;
    // Validates the file first, because llama.cpp aborts the process on some invalid files.
    let facts = gguf::read(&found.path)
        .map_err(|error| broken(format!("{} is broken: {error}", found.path.display())))?;
    let size = Size { bytes: facts.bytes, layers: facts.layers.unwrap_or(LAYERS_USUAL) + 1 };
    let llama = llama(settings)?;
    if attempt.ended_before {
        settings.gpus.give_up(&found.id);
    }
    let mut placement = if settings.gpus.are_used() {
        place(llama, size, (settings.gpus.layers, limits), room)
    } else {
        Placement::on_processor(limits)
    };
    loop {
        match start(&found.path, llama, placement, (limits, room)) {
            Ok(loaded) => return Ok(loaded),
            Err(Unstarted::Refused(refusal)) => return Err(refusal),
            Err(Unstarted::Failed(error)) if placement.gpu_layers == 0 => {
                return Err(broken(error));
            }
            Err(Unstarted::Failed(error)) => {
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
fn place(
    library: &Library,
    size: Size,
    (layers, limits): (Option<u32>, &Limits),
    room: &impl Room,
) -> Placement {
    loop {
        let gpus = library.gpus();
        let placement = Placement::on(&gpus, size, layers, limits);
        let has_room = gpus.is_empty() || layers.is_some() || placement.gpu_layers == size.layers;
        if has_room || !room.make_on_gpus() {
            return placement;
        }
    }
}

enum Unstarted {
    Refused(Refusal),
    /// May succeed with fewer layers on GPUs.
    Failed(LoadError),
}

fn start(
    path: &Path,
    library: &'static Library,
    placement: Placement,
    (limits, room): (&Limits, &impl Room),
) -> Result<Loaded, Unstarted> {
    let weights = Weights::open(library, path, placement.gpu_layers).map_err(Unstarted::Failed)?;
    let settings = Settings {
        threads: limits.threads,
        adapts_threads: limits.adapts_threads,
        parallel: placement.parallel,
        context_tokens_max: None,
        cache_bytes_max: placement.cache_bytes_max,
    };
    let memory_bytes = weights.host_bytes(&settings).map_err(Unstarted::Failed)?;
    room.make(memory_bytes).map_err(Unstarted::Refused)?;
    let model = TextModel::start(weights, &settings).map_err(Unstarted::Failed)?;
    Ok(Loaded { model: Model::Text(Arc::new(model)), memory_bytes })
}

/// Loads the operator's library, or the downloaded one, with the backend for this machine's GPUs.
fn llama(settings: &LoadSettings) -> Result<&'static Library, Refusal> {
    let path = match &settings.llama_library {
        Some(path) => path.clone(),
        None => library(&settings.models_dir, LLAMA_LIBRARY)?,
    };
    let llama = Library::load(&path).map_err(broken)?;
    add_gpus(llama, settings);
    Ok(llama)
}

/// Adds the GPU backend once per process, when it is available; without it models run on the CPU.
fn add_gpus(llama: &Library, settings: &LoadSettings) {
    static ADDED: OnceLock<()> = OnceLock::new();
    let Some(entry) = settings.gpus.device.entry() else { return };
    if ADDED.get().is_some() {
        return;
    }
    let file = match library(&settings.models_dir, entry) {
        Ok(file) => file,
        Err(refusal) => {
            tracing::warn!("text models run on the processor: {}", refusal.message());
            return;
        }
    };
    let needs = match settings.gpus.device {
        Device::Cuda => cuda_needs(settings),
        Device::Auto | Device::Cpu | Device::Vulkan => Vec::new(),
    };
    // A second attempt in the same process would fail the same way.
    let _ = ADDED.set(());
    match llama.add(&GpuPart { file, needs }) {
        Ok(()) => {
            for gpu in llama.gpus() {
                let gigabytes = |bytes: u64| bytes / 1_000_000_000;
                tracing::info!(
                    "text models run on {} ({}), {} of {} GB free",
                    gpu.name,
                    gpu.model,
                    gigabytes(gpu.free_bytes),
                    gigabytes(gpu.total_bytes)
                );
            }
            if llama.gpus().is_empty() {
                tracing::warn!("text models run on the processor: the driver shows no GPU");
            }
        }
        Err(cause) => tracing::warn!("text models run on the processor: {cause}"),
    }
}

/// Paths of CUDA's libraries, because the system's loader finds them only if they are installed
/// system-wide.
fn cuda_needs(settings: &LoadSettings) -> Vec<PathBuf> {
    let fetched = || weights::verified(&settings.models_dir, CUDA_RUNTIME).ok();
    let folder = settings.gpus.cuda_dir.clone().or_else(fetched);
    folder.map(|folder| CUDA_NEEDS.map(|name| folder.join(name)).to_vec()).unwrap_or_default()
}
