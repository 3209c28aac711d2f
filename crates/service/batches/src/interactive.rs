//! The paid calls of callers that wait for an answer: lines of batches make room for them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Callers that send one call after the other still count as waiting in between.
const QUIET_AFTER: Duration = Duration::from_millis(500);
/// Lines of all batches begin at least this far apart while callers wait. Providers take seconds for
/// a call, so `concurrency` bounds their lines; this bounds the CPU time for lines that end at once.
const LINE_EVERY: Duration = Duration::from_millis(25);

/// Paid work of a caller that waits for it. Counted until it is dropped.
pub struct InteractiveWork(Arc<InteractiveLoad>);

impl Drop for InteractiveWork {
    fn drop(&mut self) {
        self.0.end_call(Instant::now());
    }
}

#[derive(Debug)]
pub(crate) struct InteractiveLoad {
    running: AtomicUsize,
    began: Instant,
    /// End of the last call in milliseconds since `began`, plus one; 0 if there was none.
    last_end_ms: AtomicU64,
    /// The time at which the next line may begin.
    next_line: Mutex<Instant>,
}

impl InteractiveLoad {
    pub(crate) fn new(now: Instant) -> InteractiveLoad {
        InteractiveLoad {
            running: AtomicUsize::new(0),
            began: now,
            last_end_ms: AtomicU64::new(0),
            next_line: Mutex::new(now),
        }
    }

    pub(crate) fn begin_call(self: &Arc<Self>) -> InteractiveWork {
        self.running.fetch_add(1, Ordering::Relaxed);
        InteractiveWork(Arc::clone(self))
    }

    /// The calls that run now.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Gives a line its time to begin, as a pause from now. Zero while no caller waits.
    pub(crate) fn reserve_line_start(&self, now: Instant) -> Duration {
        if !self.has_callers(now) {
            return Duration::ZERO;
        }
        let mut next_line = self.next_line.lock().unwrap_or_else(PoisonError::into_inner);
        let start = now.max(*next_line);
        *next_line = start + LINE_EVERY;
        start.saturating_duration_since(now)
    }

    fn end_call(&self, now: Instant) {
        let since = now.saturating_duration_since(self.began).as_millis();
        let ended = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1);
        self.last_end_ms.store(ended, Ordering::Relaxed);
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    fn has_callers(&self, now: Instant) -> bool {
        if 0 < self.running() {
            return true;
        }
        let ended = match self.last_end_ms.load(Ordering::Relaxed) {
            0 => return false,
            ended => Duration::from_millis(ended),
        };
        now.saturating_duration_since(self.began) < ended.saturating_add(QUIET_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn lines_begin_at_once_while_no_caller_waits() {
        let now = Instant::now();
        let load = InteractiveLoad::new(now);
        assert_eq!([(); 3].map(|()| load.reserve_line_start(now)), [Duration::ZERO; 3]);
    }

    #[test]
    fn lines_begin_one_after_the_other_while_a_caller_waits() {
        let now = Instant::now();
        let load = Arc::new(InteractiveLoad::new(now));
        let call = load.begin_call();
        let pauses = [(); 3].map(|()| load.reserve_line_start(now));
        assert_eq!(pauses, [Duration::ZERO, LINE_EVERY, 2 * LINE_EVERY]);
        let later = now + 10 * LINE_EVERY;
        assert_eq!(load.reserve_line_start(later), Duration::ZERO, "unused starts are not kept");
        assert_eq!(load.reserve_line_start(later + MS), LINE_EVERY - MS);
        assert_eq!(load.running(), 1);
        drop(call);
        assert_eq!(load.running(), 0);
    }

    #[test]
    fn a_caller_counts_as_waiting_for_a_while_after_its_call() {
        let now = Instant::now();
        let load = Arc::new(InteractiveLoad::new(now));
        std::mem::forget(load.begin_call());
        load.end_call(now + 100 * MS);
        load.reserve_line_start(now + 200 * MS);
        assert_eq!(load.reserve_line_start(now + 200 * MS), LINE_EVERY);
        let quiet = now + 102 * MS + QUIET_AFTER;
        assert_eq!([(); 2].map(|()| load.reserve_line_start(quiet)), [Duration::ZERO; 2]);
    }
}
