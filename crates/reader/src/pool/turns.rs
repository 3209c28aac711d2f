//! Who is next: callers take turns, so that nobody waits behind all that another one sent.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::{CallerId, ReaderError};

/// Requests that wait, of everybody. Each keeps its bytes meanwhile.
const WAITING_MAX: usize = 64;
/// And of one caller.
const WAITING_OF_ONE_MAX: usize = 8;

#[derive(Debug)]
pub(super) struct Turns(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    free: usize,
    running: HashMap<CallerId, usize>,
    waiting: VecDeque<(CallerId, oneshot::Sender<TaskPermit>)>,
}

/// The right to have one task done, until it is dropped.
#[derive(Debug)]
pub(super) struct TaskPermit {
    caller: CallerId,
    /// Nothing once it was given back.
    queue: Option<Arc<Mutex<Queue>>>,
}

impl Turns {
    pub(super) fn new(at_once: NonZeroUsize) -> Turns {
        let (running, waiting) = (HashMap::new(), VecDeque::new());
        Turns(Arc::new(Mutex::new(Queue { free: at_once.get(), running, waiting })))
    }

    pub(super) async fn take(&self, caller: CallerId) -> Result<TaskPermit, ReaderError> {
        let next = {
            let mut queue = lock(&self.0);
            // Callers that were dropped do not count.
            queue.waiting.retain(|(_, sender)| !sender.is_closed());
            if 0 < queue.free {
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

impl Queue {
    fn begin(&mut self, caller: CallerId, queue: &Arc<Mutex<Queue>>) -> TaskPermit {
        *self.running.entry(caller).or_default() += 1;
        TaskPermit { caller, queue: Some(Arc::clone(queue)) }
    }

    fn end(&mut self, caller: CallerId) {
        if let Some(count) = self.running.get_mut(&caller) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&caller);
            }
        }
    }

    /// The first of those whose callers have the fewest tasks under way.
    fn next(&mut self) -> Option<(CallerId, oneshot::Sender<TaskPermit>)> {
        let under_way = |caller: &CallerId| self.running.get(caller).copied().unwrap_or(0);
        let waiting = self.waiting.iter().enumerate();
        let (position, _) = waiting.min_by_key(|(_, (caller, _))| under_way(caller))?;
        self.waiting.remove(position)
    }
}

impl Drop for TaskPermit {
    fn drop(&mut self) {
        let Some(shared) = self.queue.take() else { return };
        let mut queue = lock(&shared);
        queue.end(self.caller);
        while let Some((caller, sender)) = queue.next() {
            let turn = queue.begin(caller, &shared);
            match sender.send(turn) {
                Ok(()) => return,
                // It went away. Its turn must not be dropped in here: we hold the lock.
                Err(mut turn) => {
                    turn.queue = None;
                    queue.end(caller);
                }
            }
        }
        queue.free += 1;
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ANN: CallerId = CallerId(1);
    const BOB: CallerId = CallerId(2);

    #[test]
    fn a_caller_with_much_to_do_lets_another_go_first() {
        let turns = Turns::new(NonZeroUsize::new(2).unwrap());
        let first = turns.take(ANN).now_or_never().unwrap().unwrap();
        let _second = turns.take(ANN).now_or_never().unwrap().unwrap();
        let mut third = Box::pin(turns.take(ANN));
        assert!(third.as_mut().now_or_never().is_none());
        let mut other = Box::pin(turns.take(BOB));
        assert!(other.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!(other.now_or_never().unwrap().unwrap().caller, BOB);
    }

    #[test]
    fn whoever_goes_away_does_not_hold_a_place() {
        let turns = Turns::new(NonZeroUsize::MIN);
        let running = turns.take(ANN).now_or_never().unwrap().unwrap();
        let mut gone = Box::pin(turns.take(BOB));
        assert!(gone.as_mut().now_or_never().is_none());
        drop(gone);
        drop(running);
        assert!(turns.take(BOB).now_or_never().unwrap().is_ok());
    }

    #[test]
    fn what_one_caller_may_have_waiting_is_bounded_for_that_caller() {
        let turns = Turns::new(NonZeroUsize::MIN);
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
