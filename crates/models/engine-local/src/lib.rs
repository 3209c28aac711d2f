//! The engine process: local models behind an OpenAI-style HTTP API on a Unix socket.

mod endpoints;
mod entropy;
mod machine;
mod parent;
mod refusal;
mod registry;
mod server;
mod style;
mod text;
mod video_render;
mod videos;

use std::path::PathBuf;
use std::time::Duration;

/// Options of the process.
#[derive(Debug, Clone)]
pub struct LocalEngineOptions {
    pub socket: PathBuf,
    /// Contains a folder per model, and GGUF files.
    pub models_dir: PathBuf,
    /// The llama.cpp library for text models. Default: the downloaded one.
    pub llama_library: Option<PathBuf>,
    pub device: TextDevice,
    /// Layers of a text model on GPUs. Default: as many as fit.
    pub gpu_layers: Option<u32>,
    /// The directory of CUDA's libraries, if the system's loader does not find them.
    pub cuda_dir: Option<PathBuf>,
    /// Default: one per core.
    pub threads: Option<usize>,
    /// Idle time after which a model is unloaded. `None`: never.
    pub idle_unload: Option<Duration>,
    /// Default: three quarters of the machine's memory.
    pub memory_bytes_max: Option<u64>,
}

/// The device that runs text models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextDevice {
    /// Any device that the library supports without a further download.
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

impl TextDevice {
    /// The manifest id of llama.cpp's backend for the device.
    fn backend_id(self) -> Option<&'static str> {
        match self {
            TextDevice::Auto | TextDevice::Cpu => None,
            TextDevice::Cuda => Some("llama-cpp-cuda"),
            TextDevice::Vulkan => Some("llama-cpp-vulkan"),
        }
    }
}

/// Errors that prevent the process from serving.
#[derive(Debug, thiserror::Error)]
pub enum EngineServeError {
    #[error("cannot start the engine's runtime: {0}")]
    Runtime(std::io::Error),
    #[error("cannot listen on {}: {error}; is the folder there, and the path short?", socket.display())]
    Socket { socket: PathBuf, error: std::io::Error },
}

/// These threads only move bytes: models have their own.
const HTTP_THREADS: usize = 2;

/// Serves until standard input closes, which also happens when the parent dies.
pub fn serve_engine(options: LocalEngineOptions) -> Result<(), EngineServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(HTTP_THREADS)
        .enable_all()
        .build()
        .map_err(EngineServeError::Runtime)?;
    let served = runtime.block_on(server::run_server(options, parent::watch_parent()));
    // Does not wait for models that are loading or running; their callers are gone.
    runtime.shutdown_background();
    served
}
