//! The shipped program: the gateway, and the engine that it starts as a child process.

use std::process::ExitCode;
use std::time::Duration;

use cli::engine::{BuiltInEngine, EngineArgs, EngineDevice};

fn main() -> ExitCode {
    cli::run_cli(BuiltInEngine::BuiltIn(serve_engine))
}

fn serve_engine(options: EngineArgs) -> Result<(), String> {
    let options = engine_local::LocalEngineOptions {
        socket: options.socket,
        models_dir: options.models_dir,
        llama_library: options.llama_library,
        device: match options.device {
            EngineDevice::Auto => engine_local::TextDevice::Auto,
            EngineDevice::Cpu => engine_local::TextDevice::Cpu,
            EngineDevice::Cuda => engine_local::TextDevice::Cuda,
            EngineDevice::Vulkan => engine_local::TextDevice::Vulkan,
        },
        gpu_layers: options.gpu_layers,
        cuda_dir: options.cuda_dir,
        threads: options.threads.map(usize::from),
        idle_unload: (0 < options.idle_unload_s)
            .then(|| Duration::from_secs(options.idle_unload_s)),
        memory_bytes_max: options.memory_max_mb.map(|megabytes| megabytes.saturating_mul(1 << 20)),
    };
    engine_local::serve_engine(options).map_err(|error| error.to_string())
}
