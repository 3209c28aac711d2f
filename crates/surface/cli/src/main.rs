//! The gateway without an engine: all commands, without compiling a model runtime.

use std::process::ExitCode;

/// Set by process tests: every background loop panics once. The shipped program does not read it.
const PANIC_LOOPS: &str = "TOLLGATE_TEST_PANIC_LOOPS";

fn main() -> ExitCode {
    if std::env::var_os(PANIC_LOOPS).is_some() {
        background::panic_each_loop_once();
    }
    cli::run_cli(cli::engine::BuiltInEngine::Absent)
}
