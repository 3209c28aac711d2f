//! Counts, measures and kills the descendants of this process.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Resources that all descendants use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeUse {
    pub(super) processes: usize,
    /// Private and shared memory; shared memory is counted for each process.
    pub(super) memory_bytes: u64,
}

impl TreeUse {
    /// Fails if the kernel does not list child processes.
    pub(super) fn measure() -> io::Result<TreeUse> {
        fs::read("/proc/thread-self/children")?;
        let processes = find_descendants()?;
        let memory_bytes = processes.iter().filter_map(|it| memory_bytes(*it)).sum();
        Ok(TreeUse { processes: processes.len(), memory_bytes })
    }
}

/// Kills every descendant and waits for each. Orphans become children of this process, which is a
/// subreaper, so that after some rounds none is left.
pub(super) fn kill_descendants() {
    loop {
        for process in find_descendants().unwrap_or_default() {
            let _ = kill_process(process, Signal::KILL);
        }
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// True if `/proc` is mounted so that it hides processes, such as sandboxed ones, from other
/// processes of the same user.
pub(super) fn is_hidden(mounts: &str) -> bool {
    mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind, options) = (fields.next(), fields.next(), fields.next());
        let hides = |option: &str| {
            option.strip_prefix("hidepid=").is_some_and(|how| !matches!(how, "0" | "off"))
        };
        (place, kind) == (Some("/proc"), Some("proc"))
            && options.is_some_and(|options| options.split(',').any(hides))
    })
}

fn find_descendants() -> io::Result<Vec<Pid>> {
    let mut found = find_children(getpid())?;
    let mut looked_at = 0;
    while let Some(process) = found.get(looked_at).copied() {
        looked_at += 1;
        // The process may have ended meanwhile.
        found.extend(find_children(process).unwrap_or_default());
    }
    Ok(found)
}

/// The children of all threads of a process.
fn find_children(process: Pid) -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        // The thread may have ended meanwhile.
        let Ok(listed) = fs::read_to_string(thread?.path().join("children")) else { continue };
        let ids = listed.split_ascii_whitespace().filter_map(|it| it.parse().ok());
        found.extend(ids.filter_map(Pid::from_raw));
    }
    Ok(found)
}

fn memory_bytes(process: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kinds = status.lines().filter_map(|line| {
        let line = line.strip_prefix("RssAnon:").or(line.strip_prefix("RssShmem:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    });
    Some(kinds.sum::<u64>() * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_proc_that_hides_processes_is_told_by_its_options() {
        let mounts = |options: &str| {
            format!("/dev/vda / ext4 rw 0 0\nproc /proc proc rw,nosuid{options} 0 0\n")
        };
        for (options, is_so) in [
            ("", false),
            (",hidepid=0", false),
            (",hidepid=off", false),
            (",hidepid=invisible", true),
        ] {
            assert_eq!(is_hidden(&mounts(options)), is_so, "{options}");
        }
    }

    #[test]
    fn processes_of_processes_are_counted_and_measured() {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg("exec 3<&0; cat <&3 & wait").stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        // Waits until the shell has started `cat`.
        while find_children(Pid::from_child(&child)).unwrap().is_empty() {
            std::thread::yield_now();
        }
        let used = TreeUse::measure().unwrap();
        assert!(2 <= used.processes && 0 < used.memory_bytes, "{used:?}");
        let shell = Pid::from_child(&child);
        assert!(0 < memory_bytes(shell).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
