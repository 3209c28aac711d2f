//! Measured programs: started and ended here, with their CPU time read from the kernel.

use std::fs;
use std::process::{Child, Command};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// A program that is killed on drop.
pub struct MeasuredProgram {
    child: Child,
}

impl MeasuredProgram {
    pub fn start(command: &mut Command) -> MeasuredProgram {
        MeasuredProgram { child: command.spawn().expect("the program should start") }
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the program to end, and waits for it.
    pub fn terminate(&mut self) {
        let pid = to_pid(self.child.id());
        if kill(pid, Signal::SIGTERM).is_ok() {
            let _ = self.child.wait();
        }
    }

    /// CPU time of the program and its children, user and kernel.
    pub fn cpu_time(&self) -> Duration {
        let own = self.child.id();
        let all = fs::read_dir("/proc").expect("this is Linux");
        let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(|pid| *pid == own || read_parent_pid(*pid) == Some(own)).map(cpu_time).sum()
    }

    /// Resident memory of the program.
    pub fn resident_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).expect("the program runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes.expect("Linux tells it") * 1024
    }
}

impl Drop for MeasuredProgram {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of this process, and of one of its threads.
#[derive(Debug, Clone, Copy)]
pub struct OwnTime {
    pub all: Duration,
    pub thread: Duration,
}

impl OwnTime {
    /// `thread` is the kernel's name of a thread, at most 15 bytes.
    pub fn now(thread: &str) -> OwnTime {
        let mut now = OwnTime { all: Duration::ZERO, thread: Duration::ZERO };
        for task in fs::read_dir("/proc/self/task").expect("this is Linux").flatten() {
            let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            // The first number is the CPU time in nanoseconds.
            let spent = read("schedstat").split(' ').next().and_then(|it| it.parse().ok());
            let spent = Duration::from_nanos(spent.unwrap_or(0));
            now.all += spent;
            if read("comm").trim_end() == thread {
                now.thread += spent;
            }
        }
        now
    }

    pub fn since(self, before: OwnTime) -> OwnTime {
        OwnTime {
            all: self.all.saturating_sub(before.all),
            thread: self.thread.saturating_sub(before.thread),
        }
    }
}

fn to_pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).expect("Linux numbers processes so"))
}

/// CPU time of all threads of a process, including ended ones; zero if the process has ended.
fn cpu_time(pid: u32) -> Duration {
    let spent = clock_getcpuclockid(self::to_pid(pid)).and_then(clock_gettime);
    spent.map_or(Duration::ZERO, Duration::from)
}

/// The parent in `/proc/<pid>/stat`, which has a name in brackets with any characters, a letter,
/// and the parent.
fn read_parent_pid(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, numbers) = text.rsplit_once(") ")?;
    numbers.split(' ').nth(1)?.parse().ok()
}
