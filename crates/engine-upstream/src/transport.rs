//! Sends one HTTP request and maps every failure to an [`EngineError`].

use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, Phase};
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use outbound::{Answer, Client, Content, OutboundError, Target, Unread};
use tokio::time::{Instant, timeout, timeout_at};

use crate::failure::{Failure, retry_after};

/// Enough for many choices with logprobs; limits a response that never ends.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Only the message of an error is kept, so its beginning is enough.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Timeouts of an upstream. A stream has no total timeout, because a long answer is not a fault; a
/// non-streamed answer has one, because its progress cannot be observed.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the end of a non-streamed answer.
    pub answer: Duration,
    /// From the request to the first event of a stream.
    pub first_event: Duration,
    /// Between two events of a stream. Comments and pings do not count as events.
    pub next_event: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(600),
            first_event: Duration::from_secs(120),
            next_event: Duration::from_secs(120),
        }
    }
}

/// The URL, client and timeouts for one kind of request.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) target: Target,
    pub(crate) timeouts: Timeouts,
}

impl Endpoint {
    /// Sends a JSON body and reads the complete response.
    pub(crate) async fn ask(&self, body: Vec<u8>) -> Result<Bytes, EngineError> {
        self.ask_with(Content::json(body)).await
    }

    /// As [`Endpoint::ask`], with content of another type.
    pub(crate) async fn ask_with(&self, content: Content) -> Result<Bytes, EngineError> {
        self.whole(self.client.post(&self.target, content)).await
    }

    /// Sends a GET request and reads the complete response. `rest` is appended to the URL.
    pub(crate) async fn fetch(&self, rest: &str) -> Result<Bytes, EngineError> {
        self.whole(self.client.get(&self.target, rest)).await
    }

    /// As [`Endpoint::fetch`]; returns `None` for status 404 or 410.
    pub(crate) async fn fetch_known(&self, rest: &str) -> Result<Option<Bytes>, EngineError> {
        let exchange = async {
            let answer = self.client.get(&self.target, rest).await.map_err(broken)?;
            if matches!(answer.status(), 404 | 410) {
                return Ok(None);
            }
            read_whole(accepted(std::future::ready(Ok(answer))).await?).await.map(Some)
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::Answer }),
        }
    }

    /// As [`Endpoint::fetch`]; rejects the request if `is_final` is true for the response.
    pub(crate) async fn fetch_or_reject(
        &self,
        rest: &str,
        is_final: fn(&Answer) -> bool,
    ) -> Result<Bytes, EngineError> {
        let exchange = async {
            let answer = self.client.get(&self.target, rest).await.map_err(broken)?;
            if is_final(&answer) {
                let message = "The model's provider failed to make a result.".to_owned();
                return Err(EngineError::Rejected { message });
            }
            read_whole(accepted(std::future::ready(Ok(answer))).await?).await
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::Answer }),
        }
    }

    /// Requests a file and returns the response with its body still unread.
    pub(crate) async fn open_file(&self, rest: &str) -> Result<Answer, EngineError> {
        let sending = self.client.get(&self.target, rest);
        match timeout(self.timeouts.first_event, accepted(sending)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::FirstEvent }),
        }
    }

    /// The endpoint at a path under this one. `path` must already be safe in a URL.
    pub(crate) fn beneath(&self, path: &str) -> Result<Endpoint, EngineError> {
        self.elsewhere(&format!("{}/{path}", self.target.path().trim_end_matches('/')))
    }

    /// The endpoint at another path of the same server.
    pub(crate) fn elsewhere(&self, path: &str) -> Result<Endpoint, EngineError> {
        let target = self.target.elsewhere(path);
        let target = target.map_err(|_| bad_answer("it names an address that is none"))?;
        Ok(Endpoint { target, ..self.clone() })
    }

    /// Sends an empty PUT request and ignores the result.
    pub(crate) async fn put(&self) {
        let _ = self.whole(self.client.put(&self.target)).await;
    }

    /// Sends a body and returns the response with its body still unread.
    pub(crate) async fn open(
        &self,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<Answer, EngineError> {
        let sending = self.client.post(&self.target, Content::json(body));
        match timeout_at(deadline, accepted(sending)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::FirstEvent }),
        }
    }

    async fn whole(
        &self,
        sending: impl Future<Output = Result<Answer, OutboundError>>,
    ) -> Result<Bytes, EngineError> {
        let exchange = async { read_whole(accepted(sending).await?).await };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::Answer }),
        }
    }
}

async fn accepted(
    sending: impl Future<Output = Result<Answer, OutboundError>>,
) -> Result<Answer, EngineError> {
    let answer = sending.await.map_err(broken)?;
    if !matches!(answer.status(), 200..300) {
        return Err(failure_of(answer).await);
    }
    // We request no compression, so nothing is decompressed and there is no risk of a decompression
    // bomb.
    if answer.headers().contains_key(CONTENT_ENCODING) {
        return Err(bad_answer("it is compressed although nobody asked for that"));
    }
    Ok(answer)
}

pub(crate) fn bad_answer(cause: impl Into<String>) -> EngineError {
    EngineError::BadAnswer { cause: cause.into() }
}

pub(crate) fn is_json(answer: &Answer) -> bool {
    content_type(answer).is_some_and(|it| it.starts_with("application/json"))
}

/// True for JSON, HTML and plain text.
pub(crate) fn is_text(answer: &Answer) -> bool {
    is_json(answer) || content_type(answer).is_some_and(|it| it.starts_with("text/"))
}

fn content_type(answer: &Answer) -> Option<&str> {
    answer.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok())
}

pub(crate) async fn read_whole(answer: Answer) -> Result<Bytes, EngineError> {
    answer.whole(ANSWER_BYTES_MAX).await.map_err(|unread| match unread {
        Unread::TooLong => bad_answer(format!("it is longer than {ANSWER_BYTES_MAX} bytes")),
        Unread::Broken(error) => broken(error),
    })
}

async fn failure_of(answer: Answer) -> EngineError {
    let status = answer.status();
    let header = |name| answer.headers().get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let wait = retry_after(header("retry-after-ms"), header("retry-after"));
    let mut body = Vec::new();
    let mut pieces = answer.into_pieces();
    // Errors while reading the error body are ignored: the status is sufficient.
    while let Ok(Some(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
        if ERROR_BYTES_MAX < body.len() {
            break;
        }
    }
    Failure::from_answer(status, wait, &body).into_error()
}

/// Without a connection the request was never received; after a later failure it may have been.
pub(crate) fn broken(error: OutboundError) -> EngineError {
    match error {
        OutboundError::Unreached(cause) => EngineError::Unreachable { cause },
        OutboundError::Broken(cause) => bad_answer(cause),
    }
}
