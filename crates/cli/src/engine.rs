//! `tollgate engine`: the door to the built-in engine, which a program brings along or lacks.

mod confine;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use config::sections::log::{Format, Log};

use crate::failure::Failure;
use crate::serve::logging;

/// What runs models on this machine.
#[derive(Debug, Clone, Copy)]
pub enum Engine {
    /// Serves until its parent goes; the message of a failure says what to do.
    BuiltIn(fn(Options) -> Result<(), String>),
    /// The program was built without one, as the gateway's own tests are.
    Absent,
}

/// The configuration that the engine's process gets.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// The Unix socket to answer on.
    #[arg(long, value_name = "PATH")]
    pub socket: PathBuf,
    /// Where the weights are: a folder for each model, or GGUF files.
    #[arg(long, value_name = "DIR")]
    pub models_dir: PathBuf,
    /// The llama.cpp library that runs text models; otherwise the one that is fetched with them.
    #[arg(long, value_name = "PATH")]
    pub llama_library: Option<PathBuf>,
    /// What computes text models; `auto` is what the library can use as it is.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: Device,
    /// How many layers of a text model are computed on GPUs; otherwise as many as fit.
    #[arg(long, value_name = "N")]
    pub gpu_layers: Option<u32>,
    /// Where CUDA's own libraries are, if not where the system looks for them.
    #[arg(long, value_name = "DIR")]
    pub cuda_dir: Option<PathBuf>,
    /// How many threads compute at once; otherwise one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// A model that nobody used for so many seconds gives its memory back; 0 keeps it.
    #[arg(long, value_name = "N", default_value_t = 900)]
    pub idle_unload_s: u64,
    /// The most memory that loaded models may use; otherwise most of what the machine has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_max_mb: Option<u64>,
    /// A file or folder that the service keeps to itself. The engine cannot read it, but for its
    /// models.
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// What is logged, as `level` in [log] says it.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: String,
    /// How it is logged, as `format` in [log] says it.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = ["auto", "human", "json"])]
    pub log_format: String,
}

/// What computes text models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Device {
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

impl Device {
    /// As the option has it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Device::Auto => "auto",
            Device::Cpu => "cpu",
            Device::Cuda => "cuda",
            Device::Vulkan => "vulkan",
        }
    }
}

impl Engine {
    pub(crate) fn is_built_in(self) -> bool {
        matches!(self, Engine::BuiltIn(_))
    }

    pub(crate) fn run(self, options: Options) -> Result<(), Failure> {
        match self {
            Engine::BuiltIn(serve) => {
                let format = match options.log_format.as_str() {
                    "human" => Format::Human,
                    "json" => Format::Json,
                    _ => Format::Auto,
                };
                // The runtime tells a hundred things about every model that it loads.
                let level = format!("{},llama_cpp=warn", options.log_level);
                let _last_lines = logging::start(&Log { format, level })?;
                for missing in confine::confine(&options)? {
                    tracing::warn!("the engine is confined less than it could be: {missing}");
                }
                serve(options).map_err(Failure::Failed)
            }
            Engine::Absent => Err(Failure::Failed(
                "this build has no engine; use the program `tollgate`, which has one".to_owned(),
            )),
        }
    }
}
