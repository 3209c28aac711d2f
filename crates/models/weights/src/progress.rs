//! Progress of downloads.

use std::sync::atomic::{AtomicU64, Ordering};

/// Downloaded and total bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownloadProgress {
    pub done_bytes: u64,
    pub total_bytes: u64,
}

impl DownloadProgress {
    /// From 0 to 100; 100 only when complete.
    pub fn percent(self) -> u64 {
        let done = u128::from(self.done_bytes.min(self.total_bytes));
        let percent = (done * 100).checked_div(u128::from(self.total_bytes));
        percent.and_then(|percent| u64::try_from(percent).ok()).unwrap_or(100)
    }
}

/// Progress counter, written by one download and read by others.
#[derive(Debug)]
pub(crate) struct ProgressCounter {
    done_bytes: AtomicU64,
    total_bytes: u64,
}

impl ProgressCounter {
    pub(crate) fn new(total_bytes: u64) -> ProgressCounter {
        ProgressCounter { done_bytes: AtomicU64::new(0), total_bytes }
    }

    pub(crate) fn set_done_bytes(&self, done_bytes: u64) {
        self.done_bytes.store(done_bytes.min(self.total_bytes), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> DownloadProgress {
        DownloadProgress {
            done_bytes: self.done_bytes.load(Ordering::Relaxed),
            total_bytes: self.total_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(done_bytes: u64, total_bytes: u64, percent: u64) {
        assert_eq!(DownloadProgress { done_bytes, total_bytes }.percent(), percent);
    }

    #[test]
    fn percents_are_rounded_down_and_never_pass_the_end() {
        check(0, 3, 0);
        check(2, 3, 66);
        check(299, 300, 99);
        check(3, 3, 100);
        check(9, 3, 100);
        check(0, 0, 100);
        check(u64::MAX - 1, u64::MAX, 99);
    }
}
