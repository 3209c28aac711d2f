//! The engine's process: models on this machine behind OpenAI-style HTTP on a Unix socket.

mod endpoints;
mod parent;
mod server;

use std::path::PathBuf;
use std::time::Duration;

/// What the process is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    pub socket: PathBuf,
    /// A folder for each model, or GGUF files.
    pub models_dir: PathBuf,
    /// One for each core if nothing is said.
    pub threads: Option<usize>,
    pub idle_unload: Duration,
    /// Most of what the machine has if nothing is said.
    pub memory_bytes_max: Option<u64>,
}

/// Why the process cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot start the engine's runtime: {0}")]
    Runtime(std::io::Error),
    #[error("cannot listen on {}: {error}; is the folder there, and the path short?", socket.display())]
    Socket { socket: PathBuf, error: std::io::Error },
}

/// Serves until standard input ends, which is how the parent's death shows.
pub fn serve(options: Options) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(HTTP_THREADS)
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    runtime.block_on(server::run(options, parent::gone()))
}

/// They only move bytes: the models have threads of their own.
const HTTP_THREADS: usize = 2;
