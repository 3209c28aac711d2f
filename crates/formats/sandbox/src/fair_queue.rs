//! Fair scheduling: callers take turns, so that no caller waits behind all requests of another.
//!
//! If there are several slots, one caller never gets all: the last one stays free for others. Of
//! the waiting callers, the one with the fewest running tasks is next; ties go to the one that used
//! the least time recently.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::{CallerId, ReaderError};

/// Maximum waiting requests of all callers. Each holds its bytes meanwhile.
const WAITING_MAX: usize = 64;
/// Maximum waiting requests per caller.
const WAITING_OF_ONE_MAX: usize = 8;
/// The recorded time of a caller halves in this interval.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// Callers whose time is recorded. Beyond it, those with the least are dropped.
const CALLERS_RECORDED_MAX: usize = 1_024;

/// The slots for tasks, and the queue.
#[derive(Debug)]
pub struct FairQueue(Arc<Mutex<QueueState>>);

#[derive(Debug)]
struct QueueState {
    free: usize,
    /// Maximum slots of one caller.
    of_one_max: usize,
    running: HashMap<CallerId, usize>,
    waiting: VecDeque<(CallerId, oneshot::Sender<TaskPermit>)>,
    spent: HashMap<CallerId, SpentTime>,
}

/// Time that a caller has used slots, decaying exponentially.
#[derive(Debug, Clone, Copy)]
struct SpentTime {
    seconds: f64,
    at: Instant,
}

impl SpentTime {
    fn seconds_at(self, now: Instant) -> f64 {
        let age = now.saturating_duration_since(self.at).as_secs_f64();
        self.seconds * (-age / HALF_LIFE.as_secs_f64()).exp2()
    }
}

/// Permits one task; released on drop.
#[derive(Debug)]
pub struct TaskPermit {
    caller: CallerId,
    since: Instant,
    /// `None` once it was released.
    queue: Option<Arc<Mutex<QueueState>>>,
}

impl FairQueue {
    pub fn new(at_once: NonZeroUsize) -> FairQueue {
        FairQueue(Arc::new(Mutex::new(QueueState {
            free: at_once.get(),
            of_one_max: (at_once.get() - 1).max(1),
            running: HashMap::new(),
            waiting: VecDeque::new(),
            spent: HashMap::new(),
        })))
    }

    /// Waits for a slot. Returns `Busy` if too many requests are waiting, in total or of this
    /// caller.
    pub async fn take(&self, caller: CallerId) -> Result<TaskPermit, ReaderError> {
        let next = {
            let mut queue = lock_queue(&self.0);
            // Cancelled requests do not count.
            queue.waiting.retain(|(_, sender)| !sender.is_closed());
            if 0 < queue.free && queue.may_begin(caller) {
                queue.free -= 1;
                return Ok(queue.begin(caller, &self.0));
            }
            let of_one = queue.waiting.iter().filter(|(waiting, _)| *waiting == caller).count();
            if WAITING_MAX <= queue.waiting.len() || WAITING_OF_ONE_MAX <= of_one {
                return Err(ReaderError::Busy);
            }
            let (sender, next) = oneshot::channel();
            queue.waiting.push_back((caller, sender));
            next
        };
        next.await.map_err(|_| ReaderError::Busy)
    }
}

impl QueueState {
    fn running_tasks(&self, caller: CallerId) -> usize {
        self.running.get(&caller).copied().unwrap_or(0)
    }

    fn may_begin(&self, caller: CallerId) -> bool {
        self.running_tasks(caller) < self.of_one_max
    }

    fn begin(&mut self, caller: CallerId, queue: &Arc<Mutex<QueueState>>) -> TaskPermit {
        *self.running.entry(caller).or_default() += 1;
        TaskPermit { caller, since: Instant::now(), queue: Some(Arc::clone(queue)) }
    }

    fn end(&mut self, caller: CallerId) {
        if let Some(count) = self.running.get_mut(&caller) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&caller);
            }
        }
    }

    fn record_spent_time(&mut self, caller: CallerId, since: Instant) {
        let now = Instant::now();
        let earlier = self.seconds_spent(caller, now);
        let seconds = earlier + now.saturating_duration_since(since).as_secs_f64();
        self.spent.insert(caller, SpentTime { seconds, at: now });
        if CALLERS_RECORDED_MAX < self.spent.len() {
            let least = self.spent.iter().min_by(|(_, one), (_, other)| {
                one.seconds_at(now).total_cmp(&other.seconds_at(now))
            });
            if let Some(caller) = least.map(|(caller, _)| *caller) {
                self.spent.remove(&caller);
            }
        }
    }

    fn seconds_spent(&self, caller: CallerId, now: Instant) -> f64 {
        self.spent.get(&caller).map_or(0.0, |spent| spent.seconds_at(now))
    }

    /// The next waiting request: fewest running tasks, then least time used, then order of arrival.
    fn next(&mut self) -> Option<(CallerId, oneshot::Sender<TaskPermit>)> {
        let now = Instant::now();
        let waiting = self.waiting.iter().enumerate();
        let (position, _) = waiting.filter(|(_, (caller, _))| self.may_begin(*caller)).min_by(
            |(_, (one, _)), (_, (other, _))| {
                let fewer = self.running_tasks(*one).cmp(&self.running_tasks(*other));
                let spent = |caller: &CallerId| self.seconds_spent(*caller, now);
                fewer.then_with(|| spent(one).total_cmp(&spent(other)))
            },
        )?;
        self.waiting.remove(position)
    }
}

impl Drop for TaskPermit {
    fn drop(&mut self) {
        let Some(shared) = self.queue.take() else { return };
        let mut queue = lock_queue(&shared);
        queue.end(self.caller);
        queue.record_spent_time(self.caller, self.since);
        while let Some((caller, sender)) = queue.next() {
            let turn = queue.begin(caller, &shared);
            match sender.send(turn) {
                Ok(()) => return,
                // The request was cancelled. Its permit must not be dropped here, because we hold
                // the lock.
                Err(mut turn) => {
                    turn.queue = None;
                    queue.end(caller);
                }
            }
        }
        queue.free += 1;
    }
}

fn lock_queue(queue: &Mutex<QueueState>) -> MutexGuard<'_, QueueState> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ANN: CallerId = CallerId(1);
    const BOB: CallerId = CallerId(2);
    const CAROL: CallerId = CallerId(3);

    fn of_places(count: usize) -> FairQueue {
        FairQueue::new(NonZeroUsize::new(count).unwrap())
    }

    #[test]
    fn one_caller_leaves_the_last_place_to_others() {
        let turns = of_places(3);
        let first = turns.take(ANN).now_or_never().unwrap().unwrap();
        let _second = turns.take(ANN).now_or_never().unwrap().unwrap();
        let mut third = Box::pin(turns.take(ANN));
        assert!(third.as_mut().now_or_never().is_none());
        let _other = turns.take(BOB).now_or_never().unwrap().unwrap();
        drop(first);
        assert_eq!(third.now_or_never().unwrap().unwrap().caller, ANN);
    }

    #[test]
    fn a_caller_with_much_to_do_lets_another_go_first() {
        let turns = of_places(3);
        let first = turns.take(ANN).now_or_never().unwrap().unwrap();
        let _second = turns.take(ANN).now_or_never().unwrap().unwrap();
        let _other = turns.take(BOB).now_or_never().unwrap().unwrap();
        let mut third = Box::pin(turns.take(ANN));
        assert!(third.as_mut().now_or_never().is_none());
        let mut carol = Box::pin(turns.take(CAROL));
        assert!(carol.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!(carol.now_or_never().unwrap().unwrap().caller, CAROL);
    }

    #[tokio::test(start_paused = true)]
    async fn the_caller_that_took_less_time_is_next() {
        let turns = of_places(1);
        for (caller, seconds) in [(ANN, 8), (BOB, 1)] {
            let permit = turns.take(caller).await.unwrap();
            tokio::time::advance(Duration::from_secs(seconds)).await;
            drop(permit);
        }
        let running = turns.take(CAROL).await.unwrap();
        let mut ann = Box::pin(turns.take(ANN));
        assert!(ann.as_mut().now_or_never().is_none());
        let mut bob = Box::pin(turns.take(BOB));
        assert!(bob.as_mut().now_or_never().is_none());
        drop(running);
        assert!(ann.as_mut().now_or_never().is_none());
        assert_eq!(bob.now_or_never().unwrap().unwrap().caller, BOB);
    }

    #[test]
    fn the_callers_that_are_remembered_are_bounded() {
        let turns = of_places(1);
        for caller in 0..2 * CALLERS_RECORDED_MAX as u128 {
            drop(turns.take(CallerId(caller)).now_or_never().unwrap().unwrap());
        }
        assert_eq!(lock_queue(&turns.0).spent.len(), CALLERS_RECORDED_MAX);
    }

    #[test]
    fn whoever_goes_away_does_not_hold_a_place() {
        let turns = FairQueue::new(NonZeroUsize::MIN);
        let running = turns.take(ANN).now_or_never().unwrap().unwrap();
        let mut gone = Box::pin(turns.take(BOB));
        assert!(gone.as_mut().now_or_never().is_none());
        drop(gone);
        drop(running);
        assert!(turns.take(BOB).now_or_never().unwrap().is_ok());
    }

    #[test]
    fn what_one_caller_may_have_waiting_is_bounded_for_that_caller() {
        let turns = FairQueue::new(NonZeroUsize::MIN);
        let _running = turns.take(ANN).now_or_never().unwrap().unwrap();
        let mut waiting: Vec<_> =
            (0..WAITING_OF_ONE_MAX).map(|_| Box::pin(turns.take(ANN))).collect();
        for turn in &mut waiting {
            assert!(turn.as_mut().now_or_never().is_none());
        }
        assert_eq!(turns.take(ANN).now_or_never().unwrap().unwrap_err(), ReaderError::Busy);
        assert!(turns.take(BOB).now_or_never().is_none());
    }
}
