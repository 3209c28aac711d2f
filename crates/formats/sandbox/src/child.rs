//! The child process: gives up its privileges, then performs tasks until its standard input closes.

mod confine;
mod limits;
mod system_calls;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::message;
use crate::tasks::{AnyTask, TaskOutcome};
use limits::{ChildLimits, cpu_used};

/// Memory growth since the start after which a child exits, because idle children must be small.
const IDLE_GROWTH_MAX: u64 = 6 * 1024 * 1024;
/// CPU time after which a child exits, because the kernel limits whole seconds and the used
/// fraction would be lost to the next task.
const IDLE_CPU_MAX: Duration = Duration::from_millis(250);
/// Tasks after which a child exits, which frees anything they leaked.
const JOBS_MAX: u32 = 256;

/// A child's first message: the result of its confinement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementReport {
    /// Descriptions of features that the kernel lacks; empty if confinement is complete.
    pub missing: Vec<String>,
}

/// A child's response to a task.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChildReply {
    /// `None` if the task panicked.
    pub(crate) done: Option<TaskOutcome>,
    /// Set if the child exits after this response.
    pub(crate) is_last: bool,
}

/// Serves over standard input and output. Must be called before any thread is started.
pub fn run_child() -> io::Result<()> {
    let memory = File::open("/proc/self/statm")?;
    let at_start = memory_pages(&memory).unwrap_or_default();
    let limits = ChildLimits::apply_initial(at_start)?;
    let missing = confine::confine_process()?;
    // Messages are read and written whole; buffering would only copy them.
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    message::write_message(&mut output, &ConfinementReport { missing }, &[])?;
    let growth = || {
        let now = memory_pages(&memory).unwrap_or_default();
        now.own_bytes.saturating_sub(at_start.own_bytes)
    };
    serve_tasks(&mut input, &mut output, &limits, growth)
}

fn serve_tasks(
    input: &mut impl Read,
    output: &mut impl Write,
    limits: &ChildLimits,
    growth: impl Fn() -> u64,
) -> io::Result<()> {
    for number in 1.. {
        let Some((task, bytes)) = message::read_message::<AnyTask>(input)? else { break };
        limits.apply_for_task(task.bounds())?;
        let done = catch_unwind(AssertUnwindSafe(|| task.perform(&bytes))).ok();
        drop(bytes);
        let is_last = done.is_none()
            || IDLE_GROWTH_MAX < growth()
            || IDLE_CPU_MAX < cpu_used()
            || number == JOBS_MAX;
        let (done, bytes) = done.unzip();
        message::write_message(output, &ChildReply { done, is_last }, &bytes.unwrap_or_default())?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Memory of this process, from `/proc/self/statm`.
#[derive(Debug, Clone, Copy, Default)]
struct ChildMemory {
    address_bytes: u64,
    /// Resident and not shared.
    own_bytes: u64,
}

/// Reads the file opened at the start, because none can be opened later.
fn memory_pages(statm: &File) -> Option<ChildMemory> {
    let page_bytes = u64::try_from(rustix::param::page_size()).ok()?;
    let mut text = [0; 256];
    let length = statm.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let mut pages = text.split_ascii_whitespace().map_while(|it| it.parse::<u64>().ok());
    let (size, resident, shared) = (pages.next()?, pages.next()?, pages.next()?);
    let own_bytes = resident.saturating_sub(shared) * page_bytes;
    Some(ChildMemory { address_bytes: size * page_bytes, own_bytes })
}
