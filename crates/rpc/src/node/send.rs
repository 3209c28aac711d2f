//! One HTTP request to one node, and the meaning of its status for the calls in it.

use std::fmt;

use bytes::Bytes;
use outbound::{Answer, Client, Content, OutboundError, Target, Unread};
use tokio::time::{Instant, timeout_at};

/// The result of a request.
#[derive(Debug, Clone)]
pub(super) enum Sent {
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
    Failed(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
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

impl Failure {
    /// True if the node cannot have executed the calls.
    pub(super) fn is_surely_untouched(self) -> bool {
        match self {
            Failure::Unreached | Failure::Unwilling(_) => true,
            Failure::Faulty(_) | Failure::Broken | Failure::TimedOut => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreached => f.write_str("cannot be reached"),
            Failure::Unwilling(status) => write!(f, "is over our quota (HTTP {status})"),
            Failure::Faulty(status) => write!(f, "failed with HTTP {status}"),
            Failure::Broken => f.write_str("broke off the connection"),
            Failure::TimedOut => f.write_str("did not answer in time"),
        }
    }
}

/// Posts a body and reads the whole response, at most `bytes_max`, before `until`.
pub(super) async fn post(
    http: &Client,
    target: &Target,
    body: Bytes,
    bytes_max: usize,
    until: Instant,
) -> Sent {
    let exchange = async {
        match http.post(target, Content::json(body)).await {
            Ok(answer) => read(answer, bytes_max).await,
            Err(OutboundError::Unreached(_)) => Sent::Failed(Failure::Unreached),
            Err(OutboundError::Broken(_)) => Sent::Failed(Failure::Broken),
        }
    };
    timeout_at(until, exchange).await.unwrap_or(Sent::Failed(Failure::TimedOut))
}

async fn read(answer: Answer, bytes_max: usize) -> Sent {
    let status = answer.status();
    match status {
        200..300 => match answer.whole(bytes_max).await {
            Ok(body) => Sent::Answered(body),
            Err(Unread::TooLong) => Sent::TooLarge,
            Err(Unread::Broken(_)) => Sent::Failed(Failure::Broken),
        },
        402 | 429 => Sent::Failed(Failure::Unwilling(status)),
        401 | 403 | 404 => Sent::TurnedAway { status },
        400..500 => {
            // The status decides; the text of the refusal is optional.
            let body = answer.whole(bytes_max).await.unwrap_or_default();
            Sent::Refused { status, body }
        }
        _ => Sent::Failed(Failure::Faulty(status)),
    }
}
