//! Ends the service before or after any effect.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Counts the moments at which the process can be killed, down to zero.
#[derive(Debug)]
pub(super) struct KillSwitch {
    moments_left: AtomicUsize,
}

impl Default for KillSwitch {
    fn default() -> KillSwitch {
        KillSwitch { moments_left: AtomicUsize::new(usize::MAX) }
    }
}

impl KillSwitch {
    /// Kills the process after so many moments.
    pub(super) fn arm(&self, moments: usize) {
        self.moments_left.store(moments, Ordering::SeqCst);
    }

    pub(super) fn disarm(&self) {
        self.arm(usize::MAX);
    }

    pub(super) fn was_killed(&self) -> bool {
        self.moments_left.load(Ordering::SeqCst) == 0
    }

    /// A moment at which the process can be killed: then this never ends.
    pub(super) async fn pass(&self) {
        let left = self.moments_left.load(Ordering::SeqCst);
        if left == usize::MAX {
            return;
        }
        if left == 0 {
            return pending().await;
        }
        self.arm(left - 1);
    }

    /// Runs an operation. None if the process was killed in it.
    pub(super) async fn run<T>(&self, operation: impl Future<Output = T>) -> Option<T> {
        let mut operation = pin!(operation);
        poll_fn(|context| match operation.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if self.was_killed() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}
