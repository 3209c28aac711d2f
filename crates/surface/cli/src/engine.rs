//! `tollgate engine`: runs the built-in engine, if this binary has one.

mod sandbox;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use config::sections::log::{LogConfig, LogFormat};

use crate::failure::CommandError;
use crate::serve::logging;

/// The engine that this program was built with.
#[derive(Debug, Clone, Copy)]
pub enum BuiltInEngine {
    /// Serves until the parent process ends. The error message says what to do.
    BuiltIn(fn(EngineArgs) -> Result<(), String>),
    /// Built without an engine, as the gateway for its own tests is.
    Absent,
}

/// The options of the engine process.
#[derive(Debug, Clone, Args)]
pub struct EngineArgs {
    /// The Unix socket to listen on.
    #[arg(long, value_name = "PATH")]
    pub socket: PathBuf,
    /// The folder with the weights: a folder for each model, or GGUF files.
    #[arg(long, value_name = "DIR")]
    pub models_dir: PathBuf,
    /// The llama.cpp library for text models. Default: the one downloaded with them.
    #[arg(long, value_name = "PATH")]
    pub llama_library: Option<PathBuf>,
    /// The device for text models. `auto` uses what the library supports.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: EngineDevice,
    /// The number of layers of a text model to run on GPUs. Default: as many as fit.
    #[arg(long, value_name = "N")]
    pub gpu_layers: Option<u32>,
    /// The folder with the CUDA libraries, if they are not on the system's library path.
    #[arg(long, value_name = "DIR")]
    pub cuda_dir: Option<PathBuf>,
    /// The number of compute threads. Default: one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Unloads a model that was not used for this many seconds; 0 never unloads.
    #[arg(long, value_name = "N", default_value_t = 900)]
    pub idle_unload_s: u64,
    /// The maximum memory of loaded models in MiB. Default: most of the machine's memory.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_max_mb: Option<u64>,
    /// A file or folder that the engine cannot read, except for model files in it.
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// The log level, as `level` in `[log]`.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: String,
    /// The log format, as `format` in `[log]`.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = ["auto", "human", "json"])]
    pub log_format: String,
}

/// The device for text models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineDevice {
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

impl EngineDevice {
    /// Returns the value of the command-line option.
    pub(crate) fn to_option_value(self) -> &'static str {
        match self {
            EngineDevice::Auto => "auto",
            EngineDevice::Cpu => "cpu",
            EngineDevice::Cuda => "cuda",
            EngineDevice::Vulkan => "vulkan",
        }
    }
}

impl BuiltInEngine {
    pub(crate) fn is_built_in(self) -> bool {
        matches!(self, BuiltInEngine::BuiltIn(_))
    }

    pub(crate) fn run(self, options: EngineArgs) -> Result<(), CommandError> {
        match self {
            BuiltInEngine::BuiltIn(serve) => {
                let format = match options.log_format.as_str() {
                    "human" => LogFormat::Human,
                    "json" => LogFormat::Json,
                    _ => LogFormat::Auto,
                };
                // llama.cpp logs hundreds of lines for each model that it loads.
                let level = format!("{},llama_cpp=warn", options.log_level);
                let _last_lines = logging::start_logging(&LogConfig { format, level })?;
                for missing in sandbox::enter_sandbox(&options)? {
                    tracing::warn!("the sandbox of the engine is incomplete: {missing}");
                }
                serve(options).map_err(CommandError::Failed)
            }
            BuiltInEngine::Absent => Err(CommandError::Failed(
                "this build has no engine; use the program `tollgate`, which has one".to_owned(),
            )),
        }
    }
}
