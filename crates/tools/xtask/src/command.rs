//! Runs a program in the repository's root and returns its output.

use std::path::Path;
use std::process::Command;

pub(crate) fn run_command(
    root: &Path,
    program: &str,
    arguments: &[&str],
) -> Result<String, String> {
    let shown = format!("{program} {}", arguments.join(" "));
    let run = Command::new(program).args(arguments).current_dir(root).output();
    let run = run.map_err(|error| format!("could not start `{shown}`: {error}"))?;
    if !run.status.success() {
        return Err(format!("`{shown}` failed:\n{}", String::from_utf8_lossy(&run.stderr)));
    }
    String::from_utf8(run.stdout)
        .map_err(|_| format!("`{shown}` printed something that is not text"))
}
