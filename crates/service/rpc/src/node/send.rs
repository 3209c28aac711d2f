//! One HTTP request to one node, and the meaning of its status for the calls in it.

use std::fmt;

use bytes::Bytes;
use outbound::{
    BodyReadError, OutboundClient, OutboundError, RequestContent, RequestTarget, UpstreamResponse,
};
use tokio::time::{Instant, timeout_at};

/// The result of a request.
#[derive(Debug, Clone)]
pub(super) enum PostOutcome {
    Answered(Bytes),
    /// The node rejected the request (HTTP 4xx).
    Refused {
        status: u16,
        body: Bytes,
    },
    /// The URL or our key is wrong; the calls were not executed.
    TurnedAway {
        status: u16,
    },
    TooLarge,
    Failed(PostFailure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostFailure {
    /// No connection was made.
    Unreached,
    /// The node demands payment or fewer requests (402, 429).
    Unwilling(u16),
    /// Any other status without an answer, such as a 5xx.
    Faulty(u16),
    /// The connection broke before the response was complete.
    Broken,
    TimedOut,
}

impl PostFailure {
    /// True if the node cannot have executed the calls.
    pub(super) fn is_surely_untouched(self) -> bool {
        match self {
            PostFailure::Unreached | PostFailure::Unwilling(_) => true,
            PostFailure::Faulty(_) | PostFailure::Broken | PostFailure::TimedOut => false,
        }
    }
}

impl fmt::Display for PostFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PostFailure::Unreached => f.write_str("cannot be reached"),
            PostFailure::Unwilling(status) => {
                write!(f, "demands payment or fewer requests (HTTP {status})")
            }
            PostFailure::Faulty(status) => write!(f, "failed with HTTP {status}"),
            PostFailure::Broken => f.write_str("closed the connection"),
            PostFailure::TimedOut => f.write_str("did not answer in time"),
        }
    }
}

/// Posts a body and reads the whole response, at most `bytes_max`, before `until`.
pub(super) async fn post_body(
    http: &OutboundClient,
    target: &RequestTarget,
    body: Bytes,
    bytes_max: usize,
    until: Instant,
) -> PostOutcome {
    let exchange = async {
        match http.post(target, RequestContent::json(body)).await {
            Ok(answer) => read_answer(answer, bytes_max).await,
            Err(OutboundError::Unreached(_)) => PostOutcome::Failed(PostFailure::Unreached),
            Err(OutboundError::Broken(_)) => PostOutcome::Failed(PostFailure::Broken),
        }
    };
    timeout_at(until, exchange).await.unwrap_or(PostOutcome::Failed(PostFailure::TimedOut))
}

async fn read_answer(answer: UpstreamResponse, bytes_max: usize) -> PostOutcome {
    let status = answer.status();
    match status {
        200..300 => match answer.read_whole(bytes_max).await {
            Ok(body) => PostOutcome::Answered(body),
            Err(BodyReadError::TooLong) => PostOutcome::TooLarge,
            Err(BodyReadError::Broken(_)) => PostOutcome::Failed(PostFailure::Broken),
        },
        402 | 429 => PostOutcome::Failed(PostFailure::Unwilling(status)),
        401 | 403 | 404 => PostOutcome::TurnedAway { status },
        400..500 => {
            // The status decides; the text of the refusal is optional.
            let body = answer.read_whole(bytes_max).await.unwrap_or_default();
            PostOutcome::Refused { status, body }
        }
        _ => PostOutcome::Failed(PostFailure::Faulty(status)),
    }
}
