//! The kernel's limits on a child.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::Memory;
use crate::Bounds;
use crate::tasks::AnyTask;

/// Standard input, output and errors, and the file that tells our memory. Landlock wants one more
/// for a moment.
const FILES_MAX: u64 = 5;
/// In its whole life, and then it is ended: a child is cheaper than a doubt.
const LIFE_CPU_S: u64 = 120;
/// What the program, its answer and the allocator need beside the task's own memory.
const SLACK_BYTES: u64 = 64 * 1024 * 1024;

/// The limits that are set for the whole life of a child.
#[derive(Debug)]
pub(super) struct Limits {
    /// What the program had before its first task.
    address_bytes: u64,
    address_bytes_max: u64,
}

impl Limits {
    pub(super) fn set(memory: Memory) -> io::Result<Limits> {
        let most = AnyTask::bounds_of_all().iter().map(|it| it.memory_bytes).max().unwrap_or(0);
        let address_bytes = memory.address_bytes + SLACK_BYTES;
        let address_bytes_max = address_bytes + most;
        set(Resource::Core, 0, 0)?;
        set(Resource::Nofile, FILES_MAX, FILES_MAX)?;
        set(Resource::Fsize, 0, 0)?;
        set(Resource::As, address_bytes_max, address_bytes_max)?;
        set(Resource::Cpu, LIFE_CPU_S, LIFE_CPU_S)?;
        Ok(Limits { address_bytes, address_bytes_max })
    }

    /// For the next task, within those. The kernel counts whole seconds since the start of the
    /// process, so a task gets up to a second less than its bound, and never more.
    pub(super) fn allow(&self, bounds: Bounds) -> io::Result<()> {
        let cpu_s = (cpu_used().as_secs() + bounds.cpu_s).min(LIFE_CPU_S);
        set(Resource::Cpu, cpu_s, LIFE_CPU_S)?;
        set(Resource::As, self.address_bytes + bounds.memory_bytes, self.address_bytes_max)
    }
}

/// The processor time of this process since its start.
pub(super) fn cpu_used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn set(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })?)
}
