//! The reader's processes: this very program, started with the command `reader`.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use reader::{ProcessReader, Program, child};

use crate::failure::Failure;

/// Of one caller. Each keeps a core busy and may take its job's memory, and both are there for
/// everybody.
const OF_ONE_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// The pool: as many for one caller as there are cores, and one more, which stays free for others.
/// Nothing is started until something is to be read.
pub(crate) fn reader() -> ProcessReader {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    ProcessReader::new(program(), cores.min(OF_ONE_MAX).saturating_add(1))
}

/// What runs now, even if another release lies in its place by then.
pub(crate) fn program() -> Program {
    Program { path: "/proc/self/exe".into(), arguments: vec!["reader".into()] }
}

/// `tollgate reader`.
pub(crate) fn run() -> Result<(), Failure> {
    child::run().map_err(|error| Failure::Failed(format!("the reader ended: {error}")))
}
