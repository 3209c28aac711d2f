//! Reads what a handler left unread of a request's body.
//!
//! A server that answers and closes while its client still sends makes the client see a broken
//! connection instead of the answer, and a connection with unread bytes cannot be used again. So a
//! short rest is read before the answer is sent, and the connection is kept. With a long rest the
//! answer says `connection: close`, and reading continues for a while after it was sent.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, EXPECT};
use axum::http::{HeaderValue, StatusCode, Version};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

/// A rest that is read before the answer goes out.
const SHORT_BYTES_MAX: u64 = 64 * 1024;
/// How long the answer waits for it.
const SHORT_WAIT: Duration = Duration::from_secs(1);
/// What is read beside the answer, so that the client gets to read it: more than any body that is
/// taken, for clients that are a little over the bound.
const LINGER_BYTES_MAX: u64 = 64 * 1024 * 1024;
const LINGER_WAIT: Duration = Duration::from_secs(30);
/// The same after a body that came too slowly: its client has time to read the answer while it sends.
const LINGER_WAIT_SLOW: Duration = Duration::from_secs(1);

/// Receives a body that its handler did not read to the end.
#[derive(Default)]
pub(super) struct Unread {
    left: Arc<Mutex<Option<Left>>>,
}

/// A body with bytes to come.
struct Left {
    body: Body,
    /// Its client waits for a word before it sends any of it.
    is_held_back: bool,
}

/// The body that the handler reads. What it leaves unread returns to [`Unread`] on drop.
struct ReturningBody {
    left: Option<Left>,
    returns_to: Arc<Mutex<Option<Left>>>,
}

impl Unread {
    /// Follows the body of a request. HTTP/2 ends its streams one by one and needs nothing of this;
    /// neither does a request without a body.
    pub(super) fn follow(request: Request) -> (Request, Option<Unread>) {
        if Version::HTTP_2 <= request.version() || request.body().is_end_stream() {
            return (request, None);
        }
        let unread = Unread::default();
        let is_held_back = request.headers().contains_key(EXPECT);
        let returns_to = Arc::clone(&unread.left);
        let lend = |body| ReturningBody { left: Some(Left { body, is_held_back }), returns_to };
        (request.map(|body| Body::new(lend(body))), Some(unread))
    }

    /// Deals with what was not read, before the answer goes out.
    pub(super) async fn settle(self, response: &mut Response, tasks: &TaskTracker) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Left { mut body, is_held_back }) = left else { return };
        if !is_held_back && body.size_hint().lower() <= SHORT_BYTES_MAX {
            let short = discard(&mut body, SHORT_BYTES_MAX, Instant::now() + SHORT_WAIT);
            if short.await == Rest::Over {
                return;
            }
        }
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        if !is_held_back {
            let was_slow = response.status() == StatusCode::REQUEST_TIMEOUT;
            let wait = if was_slow { LINGER_WAIT_SLOW } else { LINGER_WAIT };
            tasks.spawn(async move {
                discard(&mut body, LINGER_BYTES_MAX, Instant::now() + wait).await;
            });
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Rest {
    Over,
    GoesOn,
}

/// Reads a body and forgets it, up to a number of bytes and a moment.
async fn discard(body: &mut Body, bytes_max: u64, deadline: Instant) -> Rest {
    let mut seen: u64 = 0;
    while seen <= bytes_max {
        let data = match timeout_at(deadline, body.frame()).await {
            Ok(None) => return Rest::Over,
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) | Err(_) => return Rest::GoesOn,
        };
        seen = seen.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
    }
    Rest::GoesOn
}

impl HttpBody for ReturningBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(left) = &mut self.left else { return Poll::Ready(None) };
        // Reading it makes hyper send `100 Continue`.
        left.is_held_back = false;
        let polled = Pin::new(&mut left.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.left = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.left.as_ref().is_none_or(|left| left.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.left.as_ref().map_or_else(SizeHint::default, |left| left.body.size_hint())
    }
}

impl Drop for ReturningBody {
    fn drop(&mut self) {
        let Some(left) = self.left.take().filter(|left| !left.body.is_end_stream()) else { return };
        *self.returns_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    }
}
