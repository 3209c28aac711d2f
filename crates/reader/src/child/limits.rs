//! Resource limits of a child.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::Memory;
use crate::Bounds;
use crate::tasks::AnyTask;

/// Standard input, output and error, and the memory file. Landlock briefly needs one more.
const FILES_MAX: u64 = 5;
/// CPU time limit over a child's lifetime; replacing a child is cheap.
const LIFE_CPU_S: u64 = 120;
/// Memory for the program, its response and the allocator, besides the task's own.
const SLACK_BYTES: u64 = 64 * 1024 * 1024;

/// Limits for the lifetime of a child.
#[derive(Debug)]
pub(super) struct Limits {
    /// Address space before the first task.
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

    /// Sets the limits of the next task. The kernel counts whole seconds since the start of the
    /// process, so a task gets up to one second less than its limit, never more.
    pub(super) fn allow(&self, bounds: Bounds) -> io::Result<()> {
        let cpu_s = (cpu_used().as_secs() + bounds.cpu_s).min(LIFE_CPU_S);
        set(Resource::Cpu, cpu_s, LIFE_CPU_S)?;
        set(Resource::As, self.address_bytes + bounds.memory_bytes, self.address_bytes_max)
    }
}

/// CPU time of this process since its start.
pub(super) fn cpu_used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn set(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })?)
}
