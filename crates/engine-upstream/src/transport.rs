//! One request over HTTP: sent, answered, and every way of failing turned into an engine's error.

use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use engine::{EngineError, Phase};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, Url};
use tokio::time::{Instant, timeout, timeout_at};

use crate::failure::{Failure, retry_after};

/// A whole answer with many choices and their logprobs fits; one that never ends does not.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Of an error only the message is kept, so the beginning is enough.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// How long an upstream may take. A stream has no limit in all, since a long answer is not a
/// fault; a whole answer has one, since nobody can see it growing.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the end of a whole answer.
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

/// Where requests of one kind go.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    /// Read once: reading it for each request took two per cent of a request's time.
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) timeouts: Timeouts,
}

impl Endpoint {
    /// Sends a body and reads the whole answer.
    pub(crate) async fn ask(&self, body: Vec<u8>) -> Result<Vec<u8>, EngineError> {
        self.whole(json(self.request(), body)).await
    }

    /// Sends a form and reads the whole answer.
    pub(crate) async fn ask_form(&self, form: Form) -> Result<Vec<u8>, EngineError> {
        self.whole(self.request().multipart(form)).await
    }

    /// Asks without a body and reads the whole answer. `rest` is what follows our URL.
    pub(crate) async fn fetch(&self, rest: &str) -> Result<Vec<u8>, EngineError> {
        let url = format!("{}{rest}", self.url);
        self.whole(self.client.get(url).headers(self.headers.clone())).await
    }

    /// Sends a body and returns the answer with its body still to be read.
    pub(crate) async fn open(
        &self,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<Response, EngineError> {
        match timeout_at(deadline, accepted(json(self.request(), body))).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::FirstEvent }),
        }
    }

    fn request(&self) -> RequestBuilder {
        self.client.post(self.url.clone()).headers(self.headers.clone())
    }

    async fn whole(&self, request: RequestBuilder) -> Result<Vec<u8>, EngineError> {
        let exchange = async { read(accepted(request).await?, ANSWER_BYTES_MAX).await };
        match timeout(self.timeouts.answer, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(EngineError::Timeout { phase: Phase::Answer }),
        }
    }
}

fn json(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
    request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body)
}

async fn accepted(request: RequestBuilder) -> Result<Response, EngineError> {
    let response = request.send().await.map_err(broken)?;
    if !response.status().is_success() {
        return Err(failure_of(response).await);
    }
    // We ask for no compression, so there is none to unpack, and no bomb to unpack either.
    if response.headers().contains_key(CONTENT_ENCODING) {
        return Err(bad_answer("it is compressed although nobody asked for that"));
    }
    Ok(response)
}

/// The next piece of a body, or `None` at its end.
pub(crate) async fn next_piece(response: &mut Response) -> Result<Option<Bytes>, EngineError> {
    response.chunk().await.map_err(broken)
}

pub(crate) fn bad_answer(cause: impl Into<String>) -> EngineError {
    EngineError::BadAnswer { cause: cause.into() }
}

pub(crate) fn is_json(response: &Response) -> bool {
    content_type(response).is_some_and(|it| it.starts_with("application/json"))
}

/// Words for people or programs: JSON, HTML, plain text.
pub(crate) fn is_text(response: &Response) -> bool {
    is_json(response) || content_type(response).is_some_and(|it| it.starts_with("text/"))
}

fn content_type(response: &Response) -> Option<&str> {
    response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok())
}

pub(crate) async fn read_whole(response: Response) -> Result<Vec<u8>, EngineError> {
    read(response, ANSWER_BYTES_MAX).await
}

async fn read(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, EngineError> {
    let mut body = Vec::new();
    while let Some(piece) = next_piece(&mut response).await? {
        if bytes_max < body.len() + piece.len() {
            return Err(bad_answer(format!("it is longer than {bytes_max} bytes")));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

async fn failure_of(mut response: Response) -> EngineError {
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let wait = retry_after(header("retry-after-ms"), header("retry-after"));
    let mut body = Vec::new();
    // A failure while reading the failure changes nothing: the status has said what matters.
    while let Ok(Some(piece)) = next_piece(&mut response).await {
        body.extend_from_slice(&piece);
        if ERROR_BYTES_MAX < body.len() {
            break;
        }
    }
    Failure::from_answer(status, wait, &body).into_error()
}

/// A request that could not connect was never seen; one that broke later may have been.
fn broken(error: reqwest::Error) -> EngineError {
    let never_connected = error.is_connect();
    let cause = causes(&error.without_url());
    if never_connected { EngineError::Unreachable { cause } } else { bad_answer(cause) }
}

/// The error with its causes in one line, because the outermost alone says "error sending".
fn causes(error: &reqwest::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    told
}
