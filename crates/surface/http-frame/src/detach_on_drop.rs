//! Work that continues when its caller is gone.
//!
//! It runs in the task that awaits it, and moves to its own task only if the awaiting future is
//! dropped. A task for each piece of work would wake the scheduler, and often another core, twice
//! more.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use logging::request::with_current_request_id;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Work in progress. Dropping it moves the rest to a task.
pub(crate) struct DetachOnDrop<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    tasks: TaskTracker,
}

impl<T: Send + 'static> DetachOnDrop<T> {
    pub(crate) fn new(
        tasks: &TaskTracker,
        work: impl Future<Output = T> + Send + 'static,
    ) -> DetachOnDrop<T> {
        DetachOnDrop { work: Some(Box::pin(work)), tasks: tasks.clone() }
    }
}

impl<T: Send + 'static> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it runs, so that work that panics is dropped and not polled again.
        let mut work = self.work.take().expect("nobody asks again after the end");
        let outcome = work.as_mut().poll(context);
        if outcome.is_pending() {
            self.work = Some(work);
        }
        outcome
    }
}

impl<T: Send + 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        // Without a runtime the process is about to end, and the work ends as in a crash.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            self.tasks.spawn_on(with_current_request_id(work), &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_that_is_waited_for_needs_no_task() {
        let tasks = TaskTracker::new();
        let (sender, receiver) = oneshot::channel();
        let mut work = DetachOnDrop::new(&tasks, receiver);
        assert!((&mut work).now_or_never().is_none());
        sender.send(7).unwrap();
        assert_eq!(work.await, Ok(7));
        assert!(tasks.is_empty());
    }

    #[tokio::test]
    async fn work_that_is_left_goes_on_by_itself() {
        let tasks = TaskTracker::new();
        let (sender, receiver) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let mut work = DetachOnDrop::new(&tasks, async move {
            receiver.await.unwrap();
            done.send("done").unwrap();
        });
        assert!((&mut work).now_or_never().is_none());
        drop(work);
        sender.send(()).unwrap();
        assert_eq!(is_done.await, Ok("done"));
    }

    #[tokio::test]
    async fn work_that_panics_is_not_begun_again() {
        let tasks = TaskTracker::new();
        let work = DetachOnDrop::new(&tasks, async { panic!("as intended") });
        let outcome: Result<(), _> = AssertUnwindSafe(work).catch_unwind().await;
        assert!(outcome.is_err());
        assert!(tasks.is_empty());
    }
}
