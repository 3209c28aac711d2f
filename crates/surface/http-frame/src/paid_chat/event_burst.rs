//! Reads all events that an engine has produced so far, without waiting for more.

use std::future::poll_fn;
use std::task::{Context, Poll};

use engine::{ChatEvent, ChatStream, EngineError};
use futures_util::StreamExt;

/// Events that are passed on together.
pub(super) const TOGETHER_MAX: usize = 64;

/// The state of the stream after the events that were read.
#[derive(Debug)]
pub(super) enum StreamPosition {
    /// More events may follow.
    More,
    /// The answer is complete.
    End,
    /// The answer broke off with an error.
    Break(EngineError),
}

/// Waits for an event and reads those that are already available with it, so that a burst becomes
/// one write to the connection. Does not wait for events still to come. Cancel safe: events already
/// read stay in `taken`.
pub(super) async fn read_burst(
    stream: &mut ChatStream,
    taken: &mut Vec<ChatEvent>,
) -> StreamPosition {
    let mut has_given_way = false;
    poll_fn(|context| {
        let before = taken.len();
        if let Some(behind) = take_ready_events(stream, taken, context) {
            return Poll::Ready(behind);
        }
        if taken.is_empty() {
            return Poll::Pending;
        }
        // The task that reads the engine's connection hands over one event at a time and waits
        // until it is read. Yield to it once; if no event comes then, the burst is over.
        let has_come = before < taken.len();
        if has_given_way && !has_come {
            return Poll::Ready(StreamPosition::More);
        }
        has_given_way = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// None if the stream has no more events at present.
fn take_ready_events(
    stream: &mut ChatStream,
    taken: &mut Vec<ChatEvent>,
    context: &mut Context<'_>,
) -> Option<StreamPosition> {
    while taken.len() < TOGETHER_MAX {
        match stream.poll_next_unpin(context) {
            Poll::Ready(Some(Ok(event))) => taken.push(event),
            Poll::Ready(Some(Err(error))) => return Some(StreamPosition::Break(error)),
            Poll::Ready(None) => return Some(StreamPosition::End),
            Poll::Pending => return None,
        }
    }
    Some(StreamPosition::More)
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::sync::mpsc;
    use tokio_util::task::TaskTracker;

    use super::*;

    fn event(number: usize) -> Result<ChatEvent, EngineError> {
        Ok(ChatEvent::UpstreamId(number.to_string()))
    }

    #[tokio::test]
    async fn what_another_task_hands_over_one_by_one_comes_together() {
        // A channel for one event at a time, like a connection's body.
        let (sender, mut receiver) = mpsc::channel(1);
        let sending = TaskTracker::new().spawn(async move {
            for number in 0..5 {
                sender.send(event(number)).await.unwrap();
            }
            std::future::pending::<()>().await;
        });
        let mut stream: ChatStream =
            Box::pin(stream::poll_fn(move |context| receiver.poll_recv(context)));
        let mut taken = Vec::new();
        assert!(matches!(read_burst(&mut stream, &mut taken).await, StreamPosition::More));
        assert_eq!(taken.len(), 5);
        sending.abort();
    }

    #[tokio::test]
    async fn the_end_comes_with_the_last_events() {
        let mut stream: ChatStream = Box::pin(stream::iter((0..3).map(event)));
        let mut taken = Vec::new();
        assert!(matches!(read_burst(&mut stream, &mut taken).await, StreamPosition::End));
        assert_eq!(taken.len(), 3);
    }

    #[tokio::test]
    async fn a_burst_without_end_does_not_fill_the_memory() {
        let mut stream: ChatStream = Box::pin(stream::iter((0..).map(event)));
        let mut taken = Vec::new();
        assert!(matches!(read_burst(&mut stream, &mut taken).await, StreamPosition::More));
        assert_eq!(taken.len(), TOGETHER_MAX);
    }

    #[tokio::test]
    async fn a_break_comes_with_the_events_before_it() {
        let broken = Err(EngineError::BadAnswer { cause: "torn".to_owned() });
        let mut stream: ChatStream = Box::pin(stream::iter([event(0), broken]));
        let mut taken = Vec::new();
        assert!(matches!(read_burst(&mut stream, &mut taken).await, StreamPosition::Break(_)));
        assert_eq!(taken.len(), 1);
    }
}
