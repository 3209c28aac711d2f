//! API access to the running service for commands: uses a temporary key, which is revoked
//! afterwards.

use std::time::Duration;

use control::operation::{ControlOperation, KeyLimitPeriod, KeyType, NewKey};
use control::reply::ControlReply;
use moment::{Clock, SystemClock};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use uuid::Uuid;

use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};

/// Lifetime of the temporary key. With the spending limit, it bounds the damage if revoking fails.
const KEY_LIFE: Duration = Duration::from_secs(3600);
const KEY_LIMIT_USD: &str = "1.00";
/// Read timeout, long enough for a long response on a slow machine.
const SILENCE_MAX: Duration = Duration::from_secs(600);
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Access to the API of the running service.
pub(crate) struct ApiSession {
    client: Client,
    api_url: String,
    key: String,
    key_id: Uuid,
}

impl ApiSession {
    pub(crate) async fn open(
        operator: &mut OperationClient<'_>,
    ) -> Result<ApiSession, CommandError> {
        let reply = operator.perform_running(ControlOperation::Ping).await?;
        let ControlReply::Status(status) = reply else { return Err(unexpected_reply_error()) };
        let api_url = status.api_url.ok_or_else(unexpected_reply_error)?;
        let new = NewKey {
            account: "default".to_owned(),
            kind: KeyType::Inference,
            description: "a `tollgate` command".to_owned(),
            limit_usd: Some(KEY_LIMIT_USD.to_owned()),
            limit_diem: None,
            period: KeyLimitPeriod::Lifetime,
            expires: Some(SystemClock.now().plus(KEY_LIFE).to_string()),
        };
        let reply = operator.perform(ControlOperation::CreateKey(new)).await?;
        let ControlReply::CreatedKey(created) = reply else { return Err(unexpected_reply_error()) };
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No proxy and no root certificates: the service is on this machine.
        let builder = Client::builder().no_proxy().tls_certs_only([]);
        let client = builder.read_timeout(SILENCE_MAX).build();
        let client = client.map_err(|error| CommandError::Failed(error.to_string()))?;
        Ok(ApiSession { client, api_url, key: created.api_key, key_id: created.key.id })
    }

    pub(crate) async fn close(
        self,
        operator: &mut OperationClient<'_>,
    ) -> Result<(), CommandError> {
        operator.perform(ControlOperation::RevokeKey { id: self.key_id }).await.map(|_| ())
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}/{path}", self.api_url)).bearer_auth(&self.key)
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}/{path}", self.api_url)).bearer_auth(&self.key)
    }
}

/// Sends a request, and converts an error response to its message.
pub(crate) async fn send_request(request: RequestBuilder) -> Result<Response, CommandError> {
    let response = request.send().await.map_err(|error| to_connection_error(&error))?;
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let body = read_body(response).await.unwrap_or_default();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Err(CommandError::Failed(
        message_in(&body).unwrap_or_else(|| format!("the service answered with status {status}")),
    ))
}

pub(crate) async fn fetch_json(request: RequestBuilder) -> Result<Value, CommandError> {
    let body = read_body(send_request(request).await?).await?;
    serde_json::from_slice(&body).map_err(|_| unexpected_reply_error())
}

pub(crate) async fn read_body(mut response: Response) -> Result<Vec<u8>, CommandError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| to_connection_error(&error))? {
        if ANSWER_BYTES_MAX < body.len() + piece.len() {
            return Err(unexpected_reply_error());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

pub(crate) fn to_connection_error(error: &reqwest::Error) -> CommandError {
    CommandError::Unreachable(format!("the service closed the connection: {error}"))
}

/// Returns the message of an error: `{"error": "…"}` or `{"error": {"message": "…"}}`.
pub(crate) fn message_in(body: &Value) -> Option<String> {
    let error = body.get("error")?;
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    message.map(str::to_owned)
}
