//! One event loop per core, each on its own thread.
//!
//! A connection is assigned to one lane and stays there with all the work done for it. Event loops
//! that share work wake each other for every message, which costs a quarter of a request
//! (docs/benchmarks.md).

mod batched_wake;
mod idle_timer;
mod per_lane;

use std::cell::Cell;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::batched_wake::{BatchedFuture, BatchedWake};

pub use idle_timer::IdleTimer;
pub use per_lane::PerLane;

thread_local! {
    /// The number of the lane that this thread runs. Threads that run no lane all have the number
    /// 0.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The lanes of a service. Dropping them cancels their tasks and joins their threads.
#[derive(Debug)]
pub struct LanePool {
    lanes: Vec<LaneRuntime>,
}

#[derive(Debug)]
struct LaneRuntime {
    runtime: Handle,
    /// Cloned into every seat, so its reference count is the number of seats taken.
    taken: Arc<()>,
    /// None for an event loop that the caller provided: only our own loops run a `BatchedWake`.
    batched_wake: Option<Arc<BatchedWake>>,
    thread: Option<LaneThread>,
}

#[derive(Debug)]
struct LaneThread {
    stop: oneshot::Sender<()>,
    handle: JoinHandle<()>,
}

/// A connection's place in a lane, freed when dropped.
#[derive(Debug)]
pub struct LaneSeat {
    runtime: Handle,
    batched_wake: Option<Arc<BatchedWake>>,
    _taken: Arc<()>,
}

impl LanePool {
    pub fn start(count: NonZeroUsize) -> io::Result<LanePool> {
        let lanes = (1..=count.get()).map(LaneRuntime::start).collect::<io::Result<_>>()?;
        Ok(LanePool { lanes })
    }

    /// A single lane: the event loop of the caller.
    pub fn on_current_runtime() -> LanePool {
        let runtime = Handle::current();
        let lane = LaneRuntime { runtime, taken: Arc::new(()), batched_wake: None, thread: None };
        LanePool { lanes: vec![lane] }
    }

    /// A seat in the lane with the fewest seats taken.
    pub fn take_seat(&self) -> LaneSeat {
        let freest = self.lanes.iter().min_by_key(|lane| Arc::strong_count(&lane.taken));
        let lane = freest.expect("there is at least one lane");
        LaneSeat {
            runtime: lane.runtime.clone(),
            batched_wake: lane.batched_wake.clone(),
            _taken: Arc::clone(&lane.taken),
        }
    }
}

impl Drop for LanePool {
    fn drop(&mut self) {
        let threads: Vec<LaneThread> =
            self.lanes.iter_mut().filter_map(|lane| lane.thread.take()).collect();
        let told = threads.into_iter().map(|thread| {
            // Fails only if the lane has already ended.
            let _ = thread.stop.send(());
            thread.handle
        });
        for handle in told.collect::<Vec<_>>() {
            let _ = handle.join();
        }
    }
}

impl LaneRuntime {
    fn start(number: usize) -> io::Result<LaneRuntime> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let batched_wake = BatchedWake::new(number);
        drop(runtime.spawn(Arc::clone(&batched_wake).run_wakes()));
        let (stop, stopped) = oneshot::channel();
        let running = move || {
            NUMBER.set(number);
            let _ = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name(format!("lane-{number}")).spawn(running)?;
        let thread = Some(LaneThread { stop, handle: thread });
        Ok(LaneRuntime {
            runtime: handle,
            taken: Arc::new(()),
            batched_wake: Some(batched_wake),
            thread,
        })
    }
}

impl LaneSeat {
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Wraps a future for a task in this lane, so that wake-ups from other threads are batched.
    pub fn batch_wakes<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let batched_wake = self.batched_wake.clone();
        async move {
            match batched_wake {
                Some(batched_wake) => BatchedFuture::new(batched_wake, future).await,
                None => future.await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    /// The number of the lane that a seat belongs to.
    fn number(seat: &LaneSeat) -> usize {
        let (told, number) = std::sync::mpsc::channel();
        seat.runtime().spawn(async move { told.send(NUMBER.get()) });
        number.recv().unwrap()
    }

    #[test]
    fn seats_are_spread_evenly() {
        let lanes = LanePool::start(TWO).unwrap();
        let first = lanes.take_seat();
        let second = lanes.take_seat();
        assert_ne!(number(&first), number(&second));
        let left = number(&first);
        drop(first);
        assert_eq!(number(&lanes.take_seat()), left);
    }

    #[test]
    fn work_stays_in_its_lane() {
        let lanes = LanePool::start(TWO).unwrap();
        let seat = lanes.take_seat();
        let (told, numbers) = std::sync::mpsc::channel();
        seat.runtime().spawn(async move {
            told.send(NUMBER.get()).unwrap();
            Handle::current().spawn(async move { told.send(NUMBER.get()) }).await
        });
        let numbers: Vec<usize> = numbers.iter().collect();
        assert_eq!(numbers, [number(&seat); 2]);
    }

    #[test]
    fn what_still_runs_ends_with_the_lanes() {
        let lanes = LanePool::start(TWO).unwrap();
        let kept = Arc::new(());
        let seen = Arc::downgrade(&kept);
        lanes.take_seat().runtime().spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop(lanes);
        assert!(seen.upgrade().is_none());
    }

    #[test]
    fn each_lane_has_its_own() {
        let lanes = LanePool::start(TWO).unwrap();
        let shared = Arc::new(PerLane::new(|| NUMBER.get()));
        let seats = [lanes.take_seat(), lanes.take_seat()];
        for seat in &seats {
            let (told, kept) = std::sync::mpsc::channel();
            let shared = Arc::clone(&shared);
            seat.runtime().spawn(async move { told.send(*shared.get()) });
            assert_eq!(kept.recv().unwrap(), number(seat));
        }
        assert_eq!(*shared.get(), 0, "threads outside of the lanes share one");
    }
}
