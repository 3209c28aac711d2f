//! Limits a program to a share of a processor by a control group, so that each of several nodes on
//! one machine gets as much as one node alone. Needs root.

use std::fs;
use std::path::PathBuf;

/// Long enough for bursts of work: unused time of a period is lost.
const PERIOD_US: u64 = 100_000;

/// A control group, which is removed on drop; its programs must have ended by then.
pub struct CpuQuota {
    folder: PathBuf,
}

impl CpuQuota {
    /// Gives the program and its future children `percent` of one processor.
    pub fn limit_program(pid: u32, percent: u64) -> CpuQuota {
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
        CpuQuota { folder }
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // A group with a running program cannot be removed; it stays until reboot and does no harm.
        let _ = fs::remove_dir(&self.folder);
    }
}
