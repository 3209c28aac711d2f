//! The gateway without an engine: all commands, and nothing that compiles a model runtime.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(cli::engine::Engine::Absent)
}
