//! When an HTTP/2 connection is idle: nothing was asked on it for a while, and nothing is being
//! answered. HTTP/1.1 has a timeout of its own for that.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::Version;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a connection may stay without a request.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(60);

/// The requests under way on one connection.
#[derive(Debug, Clone)]
pub(super) struct UnderWay(Arc<watch::Sender<usize>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Request(UnderWay);

impl UnderWay {
    pub(super) fn new() -> UnderWay {
        UnderWay(Arc::new(watch::Sender::new(0)))
    }

    /// Nothing for HTTP/1.1.
    pub(super) fn begin(&self, version: Version) -> Option<Request> {
        if version != Version::HTTP_2 {
            return None;
        }
        self.0.send_modify(|count| *count += 1);
        Some(Request(self.clone()))
    }

    /// Ends when there was a request and then none for `idle_max`. Without HTTP/2, never.
    pub(super) async fn idle(&self, idle_max: Duration) {
        let mut count = self.0.subscribe();
        let mut is_known = false;
        loop {
            if !is_known {
                is_known = count.wait_for(|count| 0 < *count).await.is_ok();
            }
            let _ = count.wait_for(|count| *count == 0).await;
            if timeout(idle_max, count.wait_for(|count| 0 < *count)).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Request {
    /// An answer is under way until its last byte is handed on.
    pub(super) fn lasting(self, response: Response) -> Response {
        response.map(|inner| Body::new(Lasting { inner, _request: self }))
    }
}

struct Lasting {
    inner: Body,
    _request: Request,
}

impl http_body::Body for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_is_idle_once_its_last_answer_has_ended() {
        let (under_way, idle_max) = (UnderWay::new(), Duration::from_millis(10));
        assert!(under_way.begin(Version::HTTP_11).is_none());
        let request = under_way.begin(Version::HTTP_2).unwrap();
        let response = request.lasting(Response::new(Body::from("text")));
        let short = Duration::from_millis(50);
        assert!(timeout(short, under_way.idle(idle_max)).await.is_err(), "it is being answered");
        drop(response);
        under_way.idle_again(idle_max).await;
    }

    impl UnderWay {
        /// For a connection that has had its requests.
        async fn idle_again(&self, idle_max: Duration) {
            let idle = self.idle(idle_max);
            let ask = async {
                drop(self.begin(Version::HTTP_2));
            };
            tokio::join!(idle, ask);
        }
    }
}
