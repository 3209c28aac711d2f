//! Resource limits of a child.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::ChildMemory;
use crate::TaskBounds;
use crate::tasks::AnyTask;

/// Standard input, output and error, and the memory file. Landlock briefly needs one more.
const FILES_MAX: u64 = 5;
/// CPU time limit over a child's lifetime; replacing a child is cheap.
const LIFE_CPU_S: u64 = 120;
/// Memory for the program, its response and the allocator, besides the task's own.
const SLACK_BYTES: u64 = 64 * 1024 * 1024;

/// Limits for the lifetime of a child.
#[derive(Debug)]
pub(super) struct ChildLimits {
    /// Address space before the first task.
    address_bytes: u64,
    address_bytes_max: u64,
}

impl ChildLimits {
    pub(super) fn apply_initial(memory: ChildMemory) -> io::Result<ChildLimits> {
        let most = AnyTask::bounds_of_all().iter().map(|it| it.memory_bytes).max().unwrap_or(0);
        let address_bytes = memory.address_bytes + SLACK_BYTES;
        let address_bytes_max = address_bytes + most;
        set_limit(Resource::Core, 0, 0)?;
        set_limit(Resource::Nofile, FILES_MAX, FILES_MAX)?;
        set_limit(Resource::Fsize, 0, 0)?;
        set_limit(Resource::As, address_bytes_max, address_bytes_max)?;
        set_limit(Resource::Cpu, LIFE_CPU_S, LIFE_CPU_S)?;
        Ok(ChildLimits { address_bytes, address_bytes_max })
    }

    /// Sets the limits of the next task. The kernel counts whole seconds since the start of the
    /// process, so a task gets up to one second less than its limit, never more.
    pub(super) fn apply_for_task(&self, bounds: TaskBounds) -> io::Result<()> {
        let cpu_s = (cpu_used().as_secs() + bounds.cpu_s).min(LIFE_CPU_S);
        set_limit(Resource::Cpu, cpu_s, LIFE_CPU_S)?;
        set_limit(Resource::As, self.address_bytes + bounds.memory_bytes, self.address_bytes_max)
    }
}

/// CPU time of this process since its start.
pub(super) fn cpu_used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn set_limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })?)
}
