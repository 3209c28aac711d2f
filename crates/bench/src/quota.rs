//! A part of a processor for a program, as the kernel's control groups give it: several nodes on one
//! machine then have as much each as one node alone. Needs root.

use std::fs;
use std::path::PathBuf;

/// Long enough for work that comes in bursts: what is not used in a period is lost.
const PERIOD_US: u64 = 100_000;

/// A control group, which is removed when this is dropped; its programs have to be gone by then.
pub struct Quota {
    folder: PathBuf,
}

impl Quota {
    /// `percent` of one processor for the program and all that it starts from now on.
    pub fn give(pid: u32, percent: u64) -> Quota {
        let (first, second) = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup");
        let is_first = fs::exists(format!("{first}/cpu.cfs_quota_us")).unwrap_or(false);
        let folder =
            PathBuf::from(if is_first { first } else { second }).join(format!("bench-{pid}"));
        fs::create_dir_all(&folder).expect("only root makes control groups");
        let write = |name: &str, value: String| {
            fs::write(folder.join(name), value).expect("the kernel takes the setting");
        };
        let quota = PERIOD_US * percent / 100;
        if is_first {
            write("cpu.cfs_period_us", PERIOD_US.to_string());
            write("cpu.cfs_quota_us", quota.to_string());
        } else {
            write("cpu.max", format!("{quota} {PERIOD_US}"));
        }
        write("cgroup.procs", pid.to_string());
        Quota { folder }
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // It stays until the machine ends if a program is still in it, and does no harm.
        let _ = fs::remove_dir(&self.folder);
    }
}
