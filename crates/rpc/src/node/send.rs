//! One HTTP request to one node, and what its status says about the calls in it.

use std::fmt;

use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, Url};
use tokio::time::{Instant, timeout_at};

/// What became of a request.
#[derive(Debug, Clone)]
pub(super) enum Sent {
    Answered(Bytes),
    /// The node found something wrong with the request.
    Refused {
        status: u16,
        body: Bytes,
    },
    /// The address or our key to it is wrong; the calls were not looked at.
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
    /// The node wants money or fewer requests (402, 429).
    Unwilling(u16),
    /// Anything else that is not an answer, such as a 5xx.
    Faulty(u16),
    /// The connection broke before the answer was complete.
    Broken,
    TimedOut,
}

impl Failure {
    /// Whether the node cannot have acted on the calls.
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

/// Posts a body and reads the whole answer, at most `bytes_max` of it, before `until`.
pub(super) async fn post(
    http: &Client,
    url: &Url,
    body: String,
    bytes_max: usize,
    until: Instant,
) -> Sent {
    let request = http
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .body(body);
    let exchange = async {
        match request.send().await {
            Ok(response) => read(response, bytes_max).await,
            Err(error) if error.is_connect() => Sent::Failed(Failure::Unreached),
            Err(_) => Sent::Failed(Failure::Broken),
        }
    };
    timeout_at(until, exchange).await.unwrap_or(Sent::Failed(Failure::TimedOut))
}

async fn read(mut response: Response, bytes_max: usize) -> Sent {
    let status = response.status().as_u16();
    match status {
        200..300 => match read_body(&mut response, bytes_max).await {
            Ok(body) => Sent::Answered(body),
            Err(Unread::TooLarge) => Sent::TooLarge,
            Err(Unread::Broken) => Sent::Failed(Failure::Broken),
        },
        402 | 429 => Sent::Failed(Failure::Unwilling(status)),
        401 | 403 | 404 => Sent::TurnedAway { status },
        400..500 => {
            // The status has decided; the words of the refusal are welcome but not needed.
            let body = read_body(&mut response, bytes_max).await.unwrap_or_default();
            Sent::Refused { status, body }
        }
        _ => Sent::Failed(Failure::Faulty(status)),
    }
}

enum Unread {
    TooLarge,
    Broken,
}

async fn read_body(response: &mut Response, bytes_max: usize) -> Result<Bytes, Unread> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| Unread::Broken)? {
        if bytes_max < body.len() + chunk.len() {
            return Err(Unread::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}
