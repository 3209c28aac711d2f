//! The cores and memory that this process may use.

use std::path::Path;

/// Leaves a quarter to other processes.
const MEMORY_SHARE: (u64, u64) = (3, 4);
/// Used if the total is unknown: enough for the default models.
const MEMORY_BYTES_UNKNOWN: u64 = 2 << 30;

pub(crate) fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Default limit for the memory of models.
pub(crate) fn default_memory_limit() -> u64 {
    let total = [
        read_file("/proc/meminfo").and_then(|text| meminfo_bytes(&text)),
        // In a container, `/proc/meminfo` shows the whole machine and this file the container's
        // limit.
        read_file("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok()),
    ];
    let total = total.into_iter().flatten().min().unwrap_or(MEMORY_BYTES_UNKNOWN);
    total / MEMORY_SHARE.1 * MEMORY_SHARE.0
}

fn read_file(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(path)).ok()
}

fn meminfo_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_kernels_words() {
        let text = "MemTotal:       24643204 kB\nMemFree:         9643204 kB\n";
        assert_eq!(meminfo_bytes(text), Some(24_643_204 * 1024));
        assert_eq!(meminfo_bytes("MemFree: 1 kB\n"), None);
    }
}
