//! Batches the wake-ups that other threads send to a lane.
//!
//! Waking a task of another thread writes to the descriptor on which that thread sleeps. The store
//! makes dozens of charges durable at once and has to wake a request for each, so every charge cost
//! one such write and its way through the kernel. Instead, the lane is notified once and wakes all
//! queued tasks itself, which writes nothing.

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::Notify;

use crate::NUMBER;

#[derive(Debug)]
pub(crate) struct BatchedWake {
    lane: usize,
    /// Tasks that other threads have woken since the lane last drained this list.
    woken: Mutex<Vec<Waker>>,
    ring: Notify,
}

impl BatchedWake {
    pub(crate) fn new(lane: usize) -> Arc<BatchedWake> {
        Arc::new(BatchedWake { lane, woken: Mutex::default(), ring: Notify::new() })
    }

    /// Wakes the queued tasks from within the lane, for as long as the lane runs.
    pub(crate) async fn run_wakes(self: Arc<BatchedWake>) {
        let mut woken = Vec::new();
        loop {
            self.ring.notified().await;
            mem::swap(&mut woken, &mut *self.lock_woken());
            for task in woken.drain(..) {
                task.wake();
            }
        }
    }

    fn wake(&self, task: &Waker) {
        if NUMBER.get() == self.lane {
            return task.wake_by_ref();
        }
        let mut woken = self.lock_woken();
        woken.push(task.clone());
        let is_first = woken.len() == 1;
        drop(woken);
        if is_first {
            self.ring.notify_one();
        }
    }

    fn lock_woken(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future whose wake-ups from other threads go through the [`BatchedWake`] of its lane.
pub(crate) struct BatchedFuture<F> {
    future: Pin<Box<F>>,
    batched_wake: Arc<BatchedWake>,
    waker: Option<WakerPair>,
}

/// The task's waker and the batched waker around it. Built once per task, not at each poll.
struct WakerPair {
    task: Waker,
    batched_wake: Waker,
}

impl<F: Future> BatchedFuture<F> {
    pub(crate) fn new(batched_wake: Arc<BatchedWake>, future: F) -> BatchedFuture<F> {
        BatchedFuture { future: Box::pin(future), batched_wake, waker: None }
    }
}

impl<F: Future> Future for BatchedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let task = context.waker();
        let through = match this.waker.take() {
            Some(known) if known.task.will_wake(task) => known,
            _ => WakerPair::new(&this.batched_wake, task),
        };
        let waker = &this.waker.insert(through).batched_wake;
        this.future.as_mut().poll(&mut Context::from_waker(waker))
    }
}

impl WakerPair {
    fn new(batched_wake: &Arc<BatchedWake>, task: &Waker) -> WakerPair {
        let ringer = BatchedWaker { batched_wake: Arc::clone(batched_wake), task: task.clone() };
        WakerPair { task: task.clone(), batched_wake: Waker::from(Arc::new(ringer)) }
    }
}

struct BatchedWaker {
    batched_wake: Arc<BatchedWake>,
    task: Waker,
}

impl Wake for BatchedWaker {
    fn wake(self: Arc<BatchedWaker>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<BatchedWaker>) {
        self.batched_wake.wake(&self.task);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;
    use crate::LanePool;

    const WAITING: usize = 50;

    #[test]
    fn a_lane_is_told_once_and_wakes_all_who_wait() {
        let lanes = LanePool::start(NonZeroUsize::MIN).unwrap();
        let seat = lanes.take_seat();
        let (done, answers) = mpsc::channel();
        let mut askers = Vec::new();
        for number in 0..WAITING {
            let (answer, asked) = oneshot::channel();
            askers.push(answer);
            let (done, (waits, waiting)) = (done.clone(), mpsc::channel());
            seat.runtime().spawn(seat.batch_wakes(async move {
                waits.send(()).unwrap();
                asked.await.unwrap();
                done.send(number).unwrap();
            }));
            waiting.recv().unwrap();
        }
        // While the lane is kept busy, it cannot drain the list.
        let (release, released) = mpsc::channel::<()>();
        let (keeps, kept) = mpsc::channel();
        seat.runtime().spawn(async move {
            keeps.send(()).unwrap();
            released.recv()
        });
        kept.recv().unwrap();
        for answer in askers {
            answer.send(()).unwrap();
        }
        let batched_wake = lanes.lanes[0].batched_wake.as_ref().unwrap();
        assert_eq!(batched_wake.lock_woken().len(), WAITING, "none was woken by its own");
        release.send(()).unwrap();
        let mut woken: Vec<usize> = answers.iter().take(WAITING).collect();
        woken.sort_unstable();
        assert_eq!(woken, (0..WAITING).collect::<Vec<_>>());
    }

    #[test]
    fn a_lane_that_slept_is_woken_again_and_again() {
        let lanes = LanePool::start(NonZeroUsize::MIN).unwrap();
        let seat = lanes.take_seat();
        let (ask, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let (done, answers) = mpsc::channel();
        seat.runtime().spawn(seat.batch_wakes(async move {
            while let Some(number) = asked.recv().await {
                done.send(number).unwrap();
            }
        }));
        for number in 0..1_000 {
            ask.send(number).unwrap();
            assert_eq!(answers.recv(), Ok(number));
        }
    }

    #[test]
    fn what_is_woken_from_within_needs_no_bell() {
        let lanes = LanePool::start(NonZeroUsize::MIN).unwrap();
        let seat = lanes.take_seat();
        let (done, answers) = mpsc::channel();
        seat.runtime().spawn(seat.batch_wakes(async move {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            done.send(NUMBER.get()).unwrap();
        }));
        assert_eq!(answers.recv(), Ok(1));
    }
}
