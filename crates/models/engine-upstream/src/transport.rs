//! Sends one HTTP request and maps every failure to an [`EngineError`].

use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, TimeoutPhase};
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use outbound::{
    BodyReadError, OutboundClient, OutboundError, RequestContent, RequestTarget, UpstreamResponse,
};
use tokio::time::{Instant, timeout, timeout_at};

use crate::failure::{OwnHost, UpstreamFailure, retry_after};

/// Enough for many choices with logprobs; limits a response that never ends.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Only the message of an error is kept, so its beginning is enough.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Timeouts of an upstream. A stream has no total timeout, because a long answer is not a fault; a
/// non-streamed answer has one, because its progress cannot be observed.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamTimeouts {
    pub connect: Duration,
    /// From the request to the end of a non-streamed answer.
    pub answer: Duration,
    /// From the request to the first event of a stream.
    pub first_event: Duration,
    /// Between two events of a stream. Comments and pings do not count as events.
    pub next_event: Duration,
}

impl Default for UpstreamTimeouts {
    fn default() -> UpstreamTimeouts {
        UpstreamTimeouts {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(600),
            first_event: Duration::from_secs(120),
            next_event: Duration::from_secs(120),
        }
    }
}

/// The URL, client and timeouts for one kind of request.
#[derive(Clone)]
pub(crate) struct UpstreamEndpoint {
    pub(crate) client: OutboundClient,
    pub(crate) target: RequestTarget,
    pub(crate) timeouts: UpstreamTimeouts,
}

/// The body of a response, and one of its headers.
pub(crate) struct BodyWithHeader {
    pub(crate) header: Option<String>,
    pub(crate) body: Bytes,
}

impl UpstreamEndpoint {
    /// Sends a JSON body and reads the complete response.
    pub(crate) async fn post_json(&self, body: Vec<u8>) -> Result<Bytes, EngineError> {
        self.post_content(RequestContent::json(body)).await
    }

    /// As [`UpstreamEndpoint::post_json`]; also returns a header of the response.
    pub(crate) async fn post_json_for_header(
        &self,
        body: Vec<u8>,
        name: &'static str,
    ) -> Result<BodyWithHeader, EngineError> {
        let exchange = async {
            let sending = self.client.post(&self.target, RequestContent::json(body));
            let answer = self.accept_response(sending).await?;
            let header = answer.headers().get(name).and_then(|it| it.to_str().ok());
            let header = header.map(str::to_owned);
            Ok(BodyWithHeader { header, body: read_whole(answer).await? })
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::Answer }),
        }
    }

    /// As [`UpstreamEndpoint::post_content`]; returns `None` if the server has no such path. A 404
    /// whose text is about a model is an error like any other.
    pub(crate) async fn post_if_exists(
        &self,
        content: RequestContent,
    ) -> Result<Option<Bytes>, EngineError> {
        let exchange = async {
            let answer = self.client.post(&self.target, content).await.map_err(connection_error)?;
            match answer.status() {
                405 | 501 => return Ok(None),
                404 => {
                    let body = read_error_body(answer).await;
                    let is_model = String::from_utf8_lossy(&body).to_lowercase().contains("model");
                    let error = UpstreamFailure::from_answer(404, None, &body).into_error();
                    return if is_model { Err(error) } else { Ok(None) };
                }
                _ => {}
            }
            read_whole(self.accept_response(std::future::ready(Ok(answer))).await?).await.map(Some)
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::Answer }),
        }
    }

    /// As [`UpstreamEndpoint::post_json`], with content of another type.
    pub(crate) async fn post_content(&self, content: RequestContent) -> Result<Bytes, EngineError> {
        self.read_response(self.client.post(&self.target, content)).await
    }

    /// Sends a GET request and reads the complete response. `rest` is appended to the URL.
    pub(crate) async fn get_bytes(&self, rest: &str) -> Result<Bytes, EngineError> {
        self.read_response(self.client.get(&self.target, rest)).await
    }

    /// As [`UpstreamEndpoint::get_bytes`]; returns `None` for status 404 or 410.
    pub(crate) async fn get_if_exists(&self, rest: &str) -> Result<Option<Bytes>, EngineError> {
        let exchange = async {
            let answer = self.client.get(&self.target, rest).await.map_err(connection_error)?;
            if matches!(answer.status(), 404 | 410) {
                return Ok(None);
            }
            read_whole(self.accept_response(std::future::ready(Ok(answer))).await?).await.map(Some)
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::Answer }),
        }
    }

    /// As [`UpstreamEndpoint::get_bytes`]; rejects the request if `is_final` is true for the response.
    pub(crate) async fn get_or_reject(
        &self,
        rest: &str,
        is_final: fn(&UpstreamResponse) -> bool,
    ) -> Result<Bytes, EngineError> {
        let exchange = async {
            let answer = self.client.get(&self.target, rest).await.map_err(connection_error)?;
            if is_final(&answer) {
                let message = "The model's provider failed to make a result.".to_owned();
                return Err(EngineError::Rejected { message });
            }
            read_whole(self.accept_response(std::future::ready(Ok(answer))).await?).await
        };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::Answer }),
        }
    }

    /// Requests a file and returns the response with its body still unread.
    pub(crate) async fn open_file(&self, rest: &str) -> Result<UpstreamResponse, EngineError> {
        let sending = self.client.get(&self.target, rest);
        match timeout(self.timeouts.first_event, self.accept_response(sending)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::FirstEvent }),
        }
    }

    /// The endpoint at a path under this one. `path` must already be safe in a URL.
    pub(crate) fn at_subpath(&self, path: &str) -> Result<UpstreamEndpoint, EngineError> {
        self.at_path(&format!("{}/{path}", self.target.path().trim_end_matches('/')))
    }

    /// The endpoint at another path of the same server.
    pub(crate) fn at_path(&self, path: &str) -> Result<UpstreamEndpoint, EngineError> {
        let target = self.target.with_path(path);
        let target = target.map_err(|_| bad_answer("it names an address that is none"))?;
        Ok(UpstreamEndpoint { target, ..self.clone() })
    }

    /// Sends an empty PUT request and ignores the result.
    pub(crate) async fn put(&self) {
        let _ = self.read_response(self.client.put_empty(&self.target)).await;
    }

    /// Sends a body and returns the response with its body still unread.
    pub(crate) async fn open(
        &self,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<UpstreamResponse, EngineError> {
        let sending = self.client.post(&self.target, RequestContent::json(body));
        match timeout_at(deadline, self.accept_response(sending)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::FirstEvent }),
        }
    }

    async fn read_response(
        &self,
        sending: impl Future<Output = Result<UpstreamResponse, OutboundError>>,
    ) -> Result<Bytes, EngineError> {
        let exchange = async { read_whole(self.accept_response(sending).await?).await };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: TimeoutPhase::Answer }),
        }
    }

    async fn accept_response(
        &self,
        sending: impl Future<Output = Result<UpstreamResponse, OutboundError>>,
    ) -> Result<UpstreamResponse, EngineError> {
        let answer = sending.await.map_err(connection_error)?;
        if !matches!(answer.status(), 200..300) {
            return Err(
                OwnHost::new(self.target.host()).remove_from_error(read_failure(answer).await)
            );
        }
        // We request no compression, so nothing is decompressed and there is no risk of a decompression
        // bomb.
        if answer.headers().contains_key(CONTENT_ENCODING) {
            return Err(bad_answer("it is compressed although nobody asked for that"));
        }
        Ok(answer)
    }
}

pub(crate) fn bad_answer(cause: impl Into<String>) -> EngineError {
    EngineError::BadAnswer { cause: cause.into() }
}

pub(crate) fn is_json(answer: &UpstreamResponse) -> bool {
    content_type(answer).is_some_and(|it| it.starts_with("application/json"))
}

/// True for JSON, HTML and plain text.
pub(crate) fn is_text(answer: &UpstreamResponse) -> bool {
    is_json(answer) || content_type(answer).is_some_and(|it| it.starts_with("text/"))
}

fn content_type(answer: &UpstreamResponse) -> Option<&str> {
    answer.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok())
}

pub(crate) async fn read_whole(answer: UpstreamResponse) -> Result<Bytes, EngineError> {
    answer.read_whole(ANSWER_BYTES_MAX).await.map_err(|unread| match unread {
        BodyReadError::TooLong => bad_answer(format!("it is longer than {ANSWER_BYTES_MAX} bytes")),
        BodyReadError::Broken(error) => connection_error(error),
    })
}

async fn read_failure(answer: UpstreamResponse) -> EngineError {
    let status = answer.status();
    let header = |name| answer.headers().get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let wait = retry_after(header("retry-after-ms"), header("retry-after"));
    let body = read_error_body(answer).await;
    UpstreamFailure::from_answer(status, wait, &body).into_error()
}

async fn read_error_body(answer: UpstreamResponse) -> Vec<u8> {
    let mut body = Vec::new();
    let mut pieces = answer.into_pieces();
    // Errors while reading the error body are ignored: the status is sufficient.
    while let Ok(Some(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
        if ERROR_BYTES_MAX < body.len() {
            break;
        }
    }
    body
}

/// Without a connection the request was never received; after a later failure it may have been.
pub(crate) fn connection_error(error: OutboundError) -> EngineError {
    match error {
        OutboundError::Unreached(cause) => EngineError::Unreachable { cause },
        OutboundError::Broken(cause) => bad_answer(cause),
    }
}
