//! Chooses the number of computing threads by the cores that other processes leave idle.
//!
//! llama.cpp's threads meet at a barrier after each step of the model, some hundred times a token,
//! and wait there in a loop that never sleeps. A thread without a core of its own therefore makes
//! all others wait until the kernel gives it one: with two threads on two busy cores a token takes
//! several slices of the kernel's time, with one thread none.

use std::time::{Duration, Instant};

/// The least time between two readings: shorter ones are inexact, as the kernel counts in 10 ms.
const READ_INTERVAL: Duration = Duration::from_millis(250);
/// A core that other processes use less than this share of counts as idle.
const SHARE_SPARED: f64 = 0.25;

/// CPU time since the machine started, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CpuTimes {
    /// Of all cores and processes.
    busy: u64,
    idle: u64,
    /// Of this process.
    own: u64,
}

/// CPU times with the moment they were read at.
#[derive(Debug, Clone, Copy)]
struct CpuReading {
    at: Instant,
    times: CpuTimes,
}

/// The number of threads, from 1 to the number of the settings.
#[derive(Debug)]
pub(crate) struct IdleThreads {
    most: u32,
    chosen: u32,
    /// None where the kernel does not tell.
    last: Option<CpuReading>,
}

impl IdleThreads {
    pub(crate) fn up_to(most: u32) -> IdleThreads {
        let most = most.max(1);
        let last = read_times().map(|times| CpuReading { at: Instant::now(), times });
        IdleThreads { most, chosen: most, last }
    }

    /// Returns the number of threads for the next batch, by the time since the last reading.
    /// Without figures of the kernel it is the number of the settings.
    pub(crate) fn choose_count(&mut self) -> u32 {
        let Some(before) = self.last else { return self.most };
        if before.at.elapsed() < READ_INTERVAL {
            return self.chosen;
        }
        let Some(times) = read_times() else { return self.chosen };
        self.last = Some(CpuReading { at: Instant::now(), times });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.chosen = threads_between(before.times, times, cores, self.most);
        self.chosen
    }
}

/// Returns the number of threads that had a core of their own between two readings.
fn threads_between(before: CpuTimes, now: CpuTimes, cores: usize, most: u32) -> u32 {
    let busy = now.busy.saturating_sub(before.busy);
    let passed = busy + now.idle.saturating_sub(before.idle);
    if passed == 0 {
        return most;
    }
    let others = busy.saturating_sub(now.own.saturating_sub(before.own));
    let free = cores as f64 * (1.0 - others as f64 / passed as f64);
    let whole = (free + SHARE_SPARED).floor().clamp(1.0, f64::from(most));
    // Between 1 and `most`, so the cast loses nothing.
    whole as u32
}

fn read_times() -> Option<CpuTimes> {
    let all = std::fs::read_to_string("/proc/stat").ok()?;
    let own = std::fs::read_to_string("/proc/self/stat").ok()?;
    parse_times(&all, &own)
}

/// Reads the first line of `/proc/stat` and the times of `/proc/self/stat`.
fn parse_times(all: &str, own: &str) -> Option<CpuTimes> {
    let line = all.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|it| it.parse().ok()).collect();
    let [user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen, ..] =
        ticks.as_slice()
    else {
        return None;
    };
    // The name of the process stands in brackets and may hold anything.
    let (_, after_name) = own.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).map(str::parse::<u64>);
    let (user_own, system_own) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(CpuTimes {
        busy: user + nice + system + interrupts + soft_interrupts + stolen,
        idle: idle + waiting,
        own: user_own + system_own,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: CpuTimes = CpuTimes { busy: 0, idle: 0, own: 0 };

    #[test]
    fn the_kernels_figures_are_read() {
        let all = "cpu  100 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        let own = "42 (a) name (x) S 1 42 42 0 -1 4194560 900 0 0 0 61 9 0 0 20 0 4 0 100 1 2\n";
        let expected = CpuTimes { busy: 171, idle: 450, own: 70 };
        assert_eq!(parse_times(all, own), Some(expected));
        assert_eq!(parse_times("intr 1\n", own), None);
        assert_eq!(parse_times(all, "42"), None);
    }

    #[test]
    fn each_thread_has_a_core_that_others_leave() {
        let threads = |busy: u64, own: u64, cores: usize, most: u32| {
            let now = CpuTimes { busy, idle: 1000 - busy, own };
            threads_between(NOTHING, now, cores, most)
        };
        assert_eq!(threads(0, 0, 2, 2), 2, "an idle machine");
        assert_eq!(threads(1000, 1000, 2, 2), 2, "a machine that only computes for us");
        assert_eq!(threads(100, 0, 2, 2), 2, "a fifth of a core is nothing");
        assert_eq!(threads(500, 0, 2, 2), 1, "one core is taken");
        assert_eq!(threads(1000, 500, 2, 2), 1, "the other one is ours");
        assert_eq!(threads(1000, 100, 2, 2), 1, "all are taken: there is always one");
        assert_eq!(threads(500, 0, 16, 16), 8);
        assert_eq!(threads(0, 0, 16, 4), 4, "no more than asked for");
        assert_eq!(threads_between(NOTHING, NOTHING, 2, 2), 2, "no time has passed");
    }
}
