//! Reader processes: this executable, started with the command `reader`.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use reader::{ProcessReader, Program, child};

use crate::failure::Failure;

/// The maximum number of processes for one caller. Each may use a whole core and its job's memory,
/// which all callers share.
const OF_ONE_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// Creates the pool: one caller may use as many processes as there are cores, up to the maximum;
/// one more is reserved for other callers. Processes are started on first use.
pub(crate) fn reader() -> ProcessReader {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    ProcessReader::new(program(), cores.min(OF_ONE_MAX).saturating_add(1))
}

/// The running executable, even after an upgrade replaced its file.
pub(crate) fn program() -> Program {
    Program { path: "/proc/self/exe".into(), arguments: vec!["reader".into()] }
}

/// Runs `tollgate reader`.
pub(crate) fn run() -> Result<(), Failure> {
    child::run().map_err(|error| Failure::Failed(format!("the reader ended: {error}")))
}
