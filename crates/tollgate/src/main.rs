//! The shipped program: the gateway, and the engine that it starts as a child process.

use std::process::ExitCode;
use std::time::Duration;

use cli::engine::{Device, Engine, Options};

fn main() -> ExitCode {
    cli::run(Engine::BuiltIn(serve))
}

fn serve(options: Options) -> Result<(), String> {
    let options = engine_local::Options {
        socket: options.socket,
        models_dir: options.models_dir,
        llama_library: options.llama_library,
        device: match options.device {
            Device::Auto => engine_local::Device::Auto,
            Device::Cpu => engine_local::Device::Cpu,
            Device::Cuda => engine_local::Device::Cuda,
            Device::Vulkan => engine_local::Device::Vulkan,
        },
        gpu_layers: options.gpu_layers,
        cuda_dir: options.cuda_dir,
        threads: options.threads.map(usize::from),
        idle_unload: (0 < options.idle_unload_s)
            .then(|| Duration::from_secs(options.idle_unload_s)),
        memory_bytes_max: options.memory_max_mb.map(|megabytes| megabytes.saturating_mul(1 << 20)),
    };
    engine_local::serve(options).map_err(|error| error.to_string())
}
