//! A chain node: JSON-RPC over HTTP, within bounds, and without a word about its address.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};
use thiserror::Error;

use crate::settler::Setback;

/// Receipts and simulations are far below this.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CallError {
    /// No connection was made, so nothing was done.
    #[error("{what} cannot be reached: {cause}")]
    Unreached { what: &'static str, cause: String },
    /// It may have been done.
    #[error("{what} gave no answer: {cause}")]
    Lost { what: &'static str, cause: String },
    /// The node understood and said no.
    #[error("the node refused {what}: {message}")]
    Refused { what: &'static str, code: i64, message: String, data: Value },
}

/// What nodes say when a contract has run and said no; geth has a code for it.
const REVERT_CODE: i64 = 3;
const REVERT_WORDS: [&str; 3] = ["revert", "invalid opcode", "bad instruction"];

impl CallError {
    /// Whether a contract ran and said no. Every other refusal is the node's own: it is throttled,
    /// behind, or does not like the question, and says nothing about the chain.
    pub(crate) fn is_revert(&self) -> bool {
        let CallError::Refused { code, message, data, .. } = self else { return false };
        let said = format!("{message} {data}").to_lowercase();
        *code == REVERT_CODE || REVERT_WORDS.iter().any(|words| said.contains(words))
    }
}

/// The address may hold a key, so it is in no message.
#[derive(Debug)]
pub(crate) struct Node {
    http: Client,
    url: Url,
    calls: AtomicU64,
}

impl Node {
    pub(crate) fn new(url: &str) -> Result<Node, String> {
        let url = Url::parse(url).map_err(|error| format!("not a URL: {error}"))?;
        Ok(Node { http: http_client(CALL_TIMEOUT)?, url, calls: AtomicU64::new(1) })
    }

    /// Calls a method and gives its result, which may be null.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CallError> {
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut answer = post(&self.http, self.url.clone(), &body, method).await?.body;
        if let Some(error) = answer.get_mut("error").filter(|error| !error.is_null()) {
            let message = error["message"].as_str().unwrap_or("no reason given").to_owned();
            let code = error["code"].as_i64().unwrap_or(0);
            let data = error["data"].take();
            return Err(CallError::Refused { what: method, code, message, data });
        }
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(lost(method, "no JSON-RPC answer")),
        }
    }
}

/// An HTTP client that follows nobody elsewhere.
pub(crate) fn http_client(timeout: Duration) -> Result<Client, String> {
    // Whoever is first decides for the whole process; all of us decide alike.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .redirect(Policy::none())
        .build()
        .map_err(|error| error.without_url().to_string())
}

/// An answer in JSON, whatever its status.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

pub(crate) async fn post(
    http: &Client,
    url: Url,
    body: &Value,
    what: &'static str,
) -> Result<Answer, CallError> {
    exchange(http.post(url).json(body), what).await
}

pub(crate) async fn get(http: &Client, url: Url, what: &'static str) -> Result<Answer, CallError> {
    exchange(http.get(url), what).await
}

async fn exchange(
    request: reqwest::RequestBuilder,
    what: &'static str,
) -> Result<Answer, CallError> {
    let sent = request.send().await;
    let mut response = sent.map_err(|error| match error.is_connect() {
        true => CallError::Unreached { what, cause: "no connection".to_owned() },
        false => lost(what, error.without_url()),
    })?;
    let status = response.status().as_u16();
    let body = read(&mut response, what).await?;
    let body = serde_json::from_slice(&body)
        .map_err(|_| lost(what, format!("HTTP {status} without JSON")))?;
    Ok(Answer { status, body })
}

async fn read(response: &mut Response, what: &'static str) -> Result<BytesMut, CallError> {
    let mut body = BytesMut::new();
    let broken = |error: reqwest::Error| lost(what, error.without_url());
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if ANSWER_BYTES_MAX < body.len() + chunk.len() {
            return Err(lost(what, "the answer is too long"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn lost(what: &'static str, cause: impl ToString) -> CallError {
    CallError::Lost { what, cause: cause.to_string() }
}

impl From<CallError> for Setback {
    fn from(error: CallError) -> Setback {
        Setback::unable(error)
    }
}
