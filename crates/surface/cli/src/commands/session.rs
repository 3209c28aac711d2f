//! API access to the running service for commands: uses a temporary key, which is revoked
//! afterwards.

use std::time::Duration;

use bytes::Bytes;
use control::operation::{ControlOperation, KeyLimitPeriod, KeyType, NewKey};
use control::reply::ControlReply;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use moment::{Clock, SystemClock};
use outbound::{
    BodyPieces, BodyReadError, ConnectSettings, ConnectVia, OutboundClient, OutboundError,
    RequestContent, RequestTarget, UpstreamResponse,
};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};

/// Lifetime of the temporary key. With the spending limit, it bounds the damage if revoking fails.
const KEY_LIFE: Duration = Duration::from_secs(3600);
const KEY_LIMIT_USD: &str = "1.00";
/// Timeout of connecting to this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that an idle connection is kept, for example between two messages of a conversation.
const IDLE_MAX: Duration = Duration::from_secs(90);
/// Timeout of the head of a response, of a whole body, and of each piece of a stream. Long enough for
/// a slow machine.
const SILENCE_MAX: Duration = Duration::from_secs(600);
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Access to the API of the running service.
pub(crate) struct ApiSession {
    client: OutboundClient,
    api_url: String,
    headers: HeaderMap,
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
        let settings = ConnectSettings {
            way: ConnectVia::Straight,
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: IDLE_MAX,
        };
        let client = OutboundClient::new(settings);
        let client = client.map_err(|error| CommandError::Failed(error.to_string()))?;
        let mut headers = HeaderMap::new();
        let authorization = HeaderValue::try_from(format!("Bearer {}", created.api_key));
        let mut authorization = authorization.map_err(|_| unexpected_reply_error())?;
        authorization.set_sensitive(true);
        headers.insert(AUTHORIZATION, authorization);
        Ok(ApiSession { client, api_url, headers, key_id: created.key.id })
    }

    pub(crate) async fn close(
        self,
        operator: &mut OperationClient<'_>,
    ) -> Result<(), CommandError> {
        operator.perform(ControlOperation::RevokeKey { id: self.key_id }).await.map(|_| ())
    }

    pub(crate) async fn get(&self, path: &str) -> Result<UpstreamResponse, CommandError> {
        let target = self.build_target(path)?;
        receive_response(self.client.get(&target, "")).await
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        content: RequestContent,
    ) -> Result<UpstreamResponse, CommandError> {
        let target = self.build_target(path)?;
        receive_response(self.client.post(&target, content)).await
    }

    pub(crate) async fn post_json(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<UpstreamResponse, CommandError> {
        self.post(path, RequestContent::json(body.to_string())).await
    }

    fn build_target(&self, path: &str) -> Result<RequestTarget, CommandError> {
        let url = format!("{}/{path}", self.api_url);
        let target = Url::parse(&url)
            .ok()
            .and_then(|url| RequestTarget::new(&self.client, &url, self.headers.clone()).ok());
        target.ok_or_else(|| CommandError::Failed(format!("{url} is not an http URL")))
    }
}

/// Waits for a response, and converts an error response to its message.
async fn receive_response(
    sending: impl Future<Output = Result<UpstreamResponse, OutboundError>>,
) -> Result<UpstreamResponse, CommandError> {
    let response = within_silence(sending).await?.map_err(to_connection_error)?;
    if matches!(response.status(), 200..300) {
        return Ok(response);
    }
    let status = response.status_text();
    let body = read_body(response).await.unwrap_or_default();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Err(CommandError::Failed(
        message_in(&body).unwrap_or_else(|| format!("the service answered with status {status}")),
    ))
}

pub(crate) async fn read_json(response: UpstreamResponse) -> Result<Value, CommandError> {
    let body = read_body(response).await?;
    serde_json::from_slice(&body).map_err(|_| unexpected_reply_error())
}

pub(crate) async fn read_body(response: UpstreamResponse) -> Result<Bytes, CommandError> {
    let body = within_silence(response.read_whole(ANSWER_BYTES_MAX)).await?;
    body.map_err(|unread| match unread {
        BodyReadError::TooLong => unexpected_reply_error(),
        BodyReadError::Broken(error) => to_connection_error(error),
    })
}

/// Returns the next piece of a streamed response; None at its end.
pub(crate) async fn read_piece(pieces: &mut BodyPieces) -> Result<Option<Bytes>, CommandError> {
    within_silence(pieces.next()).await?.map_err(to_connection_error)
}

async fn within_silence<T>(reading: impl Future<Output = T>) -> Result<T, CommandError> {
    timeout(SILENCE_MAX, reading).await.map_err(|_| {
        let seconds = SILENCE_MAX.as_secs();
        CommandError::Unreachable(format!("the service sent nothing for {seconds} s"))
    })
}

fn to_connection_error(error: OutboundError) -> CommandError {
    CommandError::Unreachable(format!("the service closed the connection: {error}"))
}

/// Returns the message of an error: `{"error": "…"}` or `{"error": {"message": "…"}}`.
pub(crate) fn message_in(body: &Value) -> Option<String> {
    let error = body.get("error")?;
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    message.map(str::to_owned)
}
