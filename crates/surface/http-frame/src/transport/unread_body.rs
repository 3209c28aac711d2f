//! Reads the part of a request's body that a handler left unread.
//!
//! If a server responds and closes while the client still sends, the client sees a broken
//! connection instead of the response, and a connection with unread bytes cannot be reused. So a
//! short rest is read before the response is sent, and the connection is kept. With a long rest the
//! response has `connection: close`, and reading continues for a while after it was sent.

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

use crate::input::BodyPace;

/// The longest rest that is read before the response is sent.
const SHORT_BYTES_MAX: usize = 64 * 1024;
/// Bytes read while the response is sent, so that the client can read it. More than any accepted
/// body, for clients slightly over the limit.
const LINGER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time for the bytes that are read. A body that trickles in has only the first part of it.
const LINGER_PACE: BodyPace = BodyPace {
    start: Duration::from_secs(2),
    bytes_per_s_min: 16 * 1024,
    total_max: Duration::from_secs(30),
};
/// The same after a body that came too slowly: its client has time to read the answer while it sends.
const LINGER_PACE_SLOW: BodyPace = BodyPace {
    start: Duration::from_secs(1),
    bytes_per_s_min: 16 * 1024,
    total_max: Duration::from_secs(1),
};
/// Time that the response waits for a short rest.
const SHORT_PACE: BodyPace = BodyPace {
    start: Duration::from_secs(1),
    bytes_per_s_min: 16 * 1024,
    total_max: Duration::from_secs(1),
};

/// Receives the unread rest of a body from its handler.
#[derive(Default)]
pub(super) struct UnreadBody {
    left: Arc<Mutex<Option<BodyRest>>>,
}

/// A body that was not read to its end.
struct BodyRest {
    body: Body,
    /// Set while the client waits for `100 Continue` before it sends the body.
    is_held_back: bool,
}

/// The body given to the handler. On drop, an unread rest goes back to [`UnreadBody`].
struct ReturningBody {
    left: Option<BodyRest>,
    returns_to: Arc<Mutex<Option<BodyRest>>>,
}

impl UnreadBody {
    /// Wraps the body of a request. Not needed for HTTP/2, which ends each stream by itself, or for
    /// a request without a body.
    pub(super) fn wrap_request(request: Request) -> (Request, Option<UnreadBody>) {
        if Version::HTTP_2 <= request.version() || request.body().is_end_stream() {
            return (request, None);
        }
        let unread = UnreadBody::default();
        let is_held_back = request.headers().contains_key(EXPECT);
        let returns_to = Arc::clone(&unread.left);
        let lend = |body| ReturningBody { left: Some(BodyRest { body, is_held_back }), returns_to };
        (request.map(|body| Body::new(lend(body))), Some(unread))
    }

    /// Reads or schedules the rest of the body, before the response is sent.
    pub(super) async fn drain_rest(self, response: &mut Response, tasks: &TaskTracker) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(BodyRest { mut body, is_held_back }) = left else { return };
        let rest_bytes = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let is_short = !is_held_back && rest_bytes <= SHORT_BYTES_MAX;
        if is_short
            && discard_body(&mut body, SHORT_BYTES_MAX, SHORT_PACE).await == DiscardOutcome::Over
        {
            return;
        }
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        if !is_held_back {
            let was_slow = response.status() == StatusCode::REQUEST_TIMEOUT;
            let pace = if was_slow { LINGER_PACE_SLOW } else { LINGER_PACE };
            tasks.spawn(async move {
                discard_body(&mut body, LINGER_BYTES_MAX, pace).await;
            });
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum DiscardOutcome {
    Over,
    GoesOn,
}

/// Reads and discards a body, up to `bytes_max` bytes and at the pace at least.
async fn discard_body(body: &mut Body, bytes_max: usize, pace: BodyPace) -> DiscardOutcome {
    let begun = Instant::now();
    let mut seen: usize = 0;
    while seen <= bytes_max {
        let deadline = begun + pace.time_for(seen);
        let data = match timeout_at(deadline, body.frame()).await {
            Ok(None) => return DiscardOutcome::Over,
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) | Err(_) => return DiscardOutcome::GoesOn,
        };
        seen = seen.saturating_add(data.len());
    }
    DiscardOutcome::GoesOn
}

impl HttpBody for ReturningBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(left) = &mut self.left else { return Poll::Ready(None) };
        // Polling the body makes hyper send `100 Continue`.
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
