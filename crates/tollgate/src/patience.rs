//! How long threads that compute together wait for each other without giving up their core.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Read by the threading library before `main`, so that only a new process can have it.
const SPINS: &str = "GOMP_SPINCOUNT";
/// About fifty microseconds, a little longer than the usual wait. The library's own choice is three
/// hundred times that: on a machine with other work, threads then spin while the one they wait for
/// has no core, and an answer took twenty times as long.
const SPINS_MAX: &str = "1000";

/// Starts this process anew with the limit, unless the operator or we have set it.
pub(crate) fn limit() -> Result<(), String> {
    let is_set = [SPINS, "OMP_WAIT_POLICY"].iter().any(|name| std::env::var_os(name).is_some());
    if is_set {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let arguments = std::env::args_os().skip(1);
    // It comes back only if it fails: the process stays the same, with its parent and its pipes.
    let error = Command::new(program).args(arguments).env(SPINS, SPINS_MAX).exec();
    Err(format!("cannot start the engine anew with {SPINS}={SPINS_MAX}: {error}"))
}
