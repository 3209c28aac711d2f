//! A timeout that restarts with every event and rarely expires.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// A timeout for repeated waits. A timer per wait would be registered and cancelled for each event;
/// this one stays registered, and is reset only if it fires before the current wait is due.
#[derive(Debug)]
pub struct IdleTimer {
    length: Duration,
    /// Start of the current wait; None if nothing is being waited for.
    since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl IdleTimer {
    pub fn new(length: Duration) -> IdleTimer {
        IdleTimer { length, since: None, timer: Box::pin(sleep(length)) }
    }

    /// Ends the current wait; the next `poll_elapsed` starts a new one.
    pub fn reset(&mut self) {
        self.since = None;
    }

    /// Ready once the current wait has lasted `length`. The first poll after `reset` starts
    /// the wait.
    pub fn poll_elapsed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let due = *self.since.get_or_insert_with(Instant::now) + self.length;
        loop {
            ready!(self.timer.as_mut().poll(context));
            if due <= self.timer.deadline() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(due);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::advance;

    use super::*;

    const LENGTH: Duration = Duration::from_secs(10);

    async fn over(idle_timer: &mut IdleTimer) {
        poll_fn(|context| idle_timer.poll_elapsed(context)).await;
    }

    async fn is_over(idle_timer: &mut IdleTimer) -> bool {
        poll_fn(|context| Poll::Ready(idle_timer.poll_elapsed(context).is_ready())).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_lasts_as_long_as_it_may_and_no_longer() {
        let mut idle_timer = IdleTimer::new(LENGTH);
        advance(Duration::from_secs(7)).await;
        let asked = Instant::now();
        over(&mut idle_timer).await;
        assert_eq!(asked.elapsed(), LENGTH);
        assert!(is_over(&mut idle_timer).await, "it stays over");
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_begins_the_next_wait() {
        let mut idle_timer = IdleTimer::new(LENGTH);
        for _ in 0..5 {
            assert!(!is_over(&mut idle_timer).await);
            advance(Duration::from_secs(9)).await;
            assert!(!is_over(&mut idle_timer).await);
            idle_timer.reset();
        }
        // No wait is in progress meanwhile.
        advance(LENGTH * 3).await;
        let asked = Instant::now();
        over(&mut idle_timer).await;
        assert_eq!(asked.elapsed(), LENGTH);
    }
}
