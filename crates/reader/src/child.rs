//! The child: gives up what it does not need, then does one task after the other until its
//! standard input ends.

mod confine;
mod limits;
mod system_calls;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::frame;
use crate::tasks::{AnyTask, Done};
use limits::{Limits, cpu_used};

/// A child that holds so much more than at its start ends after its answer: what waits for work must
/// be small.
const IDLE_GROWTH_MAX: u64 = 6 * 1024 * 1024;
/// So does one that has computed for so long, because what is left of a whole second is lost to
/// its next task.
const IDLE_CPU_MAX: Duration = Duration::from_millis(250);
/// So does one that has done so many tasks; whatever one of them left behind goes with it.
const JOBS_MAX: u32 = 256;

/// What a child says first: how far it could lock itself in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What the kernel does not have, in words; empty if all holds.
    pub missing: Vec<String>,
}

/// A child's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChildReply {
    /// Nothing if the task panicked.
    pub(crate) done: Option<Done>,
    /// The child ends with it.
    pub(crate) is_last: bool,
}

/// Serves over standard input and output. Must be called before any thread is started.
pub fn run() -> io::Result<()> {
    let memory = File::open("/proc/self/statm")?;
    let at_start = memory_pages(&memory).unwrap_or_default();
    let limits = Limits::set(at_start)?;
    let missing = confine::confine()?;
    // Whole messages are read and written; a lock or a line buffer would only copy them.
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    frame::write(&mut output, &Confinement { missing }, &[])?;
    let growth = || {
        let now = memory_pages(&memory).unwrap_or_default();
        now.own_bytes.saturating_sub(at_start.own_bytes)
    };
    serve(&mut input, &mut output, &limits, growth)
}

fn serve(
    input: &mut impl Read,
    output: &mut impl Write,
    limits: &Limits,
    growth: impl Fn() -> u64,
) -> io::Result<()> {
    for number in 1.. {
        let Some((task, bytes)) = frame::read::<AnyTask>(input)? else { break };
        limits.allow(task.bounds())?;
        let done = catch_unwind(AssertUnwindSafe(|| task.perform(&bytes))).ok();
        drop(bytes);
        let is_last = done.is_none()
            || IDLE_GROWTH_MAX < growth()
            || IDLE_CPU_MAX < cpu_used()
            || number == JOBS_MAX;
        let (done, bytes) = done.unzip();
        frame::write(output, &ChildReply { done, is_last }, &bytes.unwrap_or_default())?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// What the process has, from `/proc/self/statm`.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    address_bytes: u64,
    /// Resident, and nobody else's.
    own_bytes: u64,
}

/// The file stays open, for none can be opened later.
fn memory_pages(statm: &File) -> Option<Memory> {
    let page_bytes = u64::try_from(rustix::param::page_size()).ok()?;
    let mut text = [0; 256];
    let length = statm.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let mut pages = text.split_ascii_whitespace().map_while(|it| it.parse::<u64>().ok());
    let (size, resident, shared) = (pages.next()?, pages.next()?, pages.next()?);
    let own_bytes = resident.saturating_sub(shared) * page_bytes;
    Some(Memory { address_bytes: size * page_bytes, own_bytes })
}
