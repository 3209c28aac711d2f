//! The engine's process: models on this machine behind OpenAI-style HTTP on a Unix socket.

mod endpoints;
mod entropy;
mod film;
mod machine;
mod parent;
mod refusal;
mod registry;
mod server;
mod style;
mod text;
mod videos;

use std::path::PathBuf;
use std::time::Duration;

/// What the process is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    pub socket: PathBuf,
    /// A folder for each model, or GGUF files.
    pub models_dir: PathBuf,
    /// The llama.cpp library that runs text models; the one that is fetched if nothing is said.
    pub llama_library: Option<PathBuf>,
    pub device: Device,
    /// How many layers of a text model are computed on GPUs; as many as fit if nothing is said.
    pub gpu_layers: Option<u32>,
    /// Where CUDA's own libraries are, if not where the system looks for them.
    pub cuda_dir: Option<PathBuf>,
    /// One for each core if nothing is said.
    pub threads: Option<usize>,
    /// A model that nobody used for so long gives its memory back; none keeps it.
    pub idle_unload: Option<Duration>,
    /// Most of what the machine has if nothing is said.
    pub memory_bytes_max: Option<u64>,
}

/// What computes text models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// What the library can use without a part that would have to be fetched.
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

impl Device {
    /// The entry of the manifest with llama.cpp's part for it.
    fn entry(self) -> Option<&'static str> {
        match self {
            Device::Auto | Device::Cpu => None,
            Device::Cuda => Some("llama-cpp-cuda"),
            Device::Vulkan => Some("llama-cpp-vulkan"),
        }
    }
}

/// Why the process cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot start the engine's runtime: {0}")]
    Runtime(std::io::Error),
    #[error("cannot listen on {}: {error}; is the folder there, and the path short?", socket.display())]
    Socket { socket: PathBuf, error: std::io::Error },
}

/// They only move bytes: the models have threads of their own.
const HTTP_THREADS: usize = 2;

/// Serves until standard input ends, which is how the parent's death shows.
pub fn serve(options: Options) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(HTTP_THREADS)
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let served = runtime.block_on(server::run(options, parent::gone()));
    // A model that is being loaded or asked would hold the end up; nobody waits for it any more.
    runtime.shutdown_background();
    served
}
