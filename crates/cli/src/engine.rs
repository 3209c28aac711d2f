//! `tollgate engine`: the door to the built-in engine, which a program brings along or lacks.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::serve::logging;
use crate::surroundings::Surroundings;

/// What runs models on this machine.
#[derive(Debug, Clone, Copy)]
pub enum Engine {
    /// Serves until its parent goes; the message of a failure says what to do.
    BuiltIn(fn(Options) -> Result<(), String>),
    /// The program was built without one, as the gateway's own tests are.
    Absent,
}

/// What the engine's process is told.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// The Unix socket to answer on.
    #[arg(long, value_name = "PATH")]
    pub socket: PathBuf,
    /// Where the weights are: a folder for each model, or GGUF files.
    #[arg(long, value_name = "DIR")]
    pub models_dir: PathBuf,
    /// How many threads compute at once; otherwise one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// A model that nobody used for so many seconds gives its memory back; 0 keeps it.
    #[arg(long, value_name = "N", default_value_t = 900)]
    pub idle_unload_s: u64,
    /// The most memory that loaded models may use; otherwise most of what the machine has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_max_mb: Option<u64>,
}

impl Engine {
    pub(crate) fn is_built_in(self) -> bool {
        matches!(self, Engine::BuiltIn(_))
    }

    pub(crate) fn run(self, surroundings: &Surroundings, options: Options) -> Result<(), Failure> {
        match self {
            Engine::BuiltIn(serve) => {
                let mut log = surroundings.sources(Vec::new()).read()?.log;
                // The runtime tells a hundred things about every model that it loads.
                log.level.push_str(",llama-cpp-2=warn");
                let _last_lines = logging::start(&log)?;
                serve(options).map_err(Failure::Failed)
            }
            Engine::Absent => Err(Failure::Failed(
                "this build has no engine; use the program `tollgate`, which has one".to_owned(),
            )),
        }
    }
}
