//! Reader processes: this executable, started with the command `reader`.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use sandbox::{ChildCommand, ProcessReader, child};

use crate::failure::CommandError;

/// The maximum number of processes for one caller. Each may use a whole core and its job's memory,
/// which all callers share.
const OF_ONE_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// Creates the pool: one caller may use as many processes as there are cores, up to the maximum;
/// one more is reserved for other callers. Processes are started on first use.
pub(crate) fn build_reader() -> ProcessReader {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    ProcessReader::new(build_reader_program(), cores.min(OF_ONE_MAX).saturating_add(1))
}

/// The running executable, even after an upgrade replaced its file.
pub(crate) fn build_reader_program() -> ChildCommand {
    ChildCommand { path: "/proc/self/exe".into(), arguments: vec!["reader".into()] }
}

/// Runs `tollgate reader`.
pub(crate) fn run_reader() -> Result<(), CommandError> {
    child::run_child().map_err(|error| CommandError::Failed(format!("the reader ended: {error}")))
}
