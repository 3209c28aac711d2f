//! A client for a JSON server that the operator configured: a chain's node, or a facilitator.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use outbound::{
    BodyReadError, ConnectSettings, ConnectVia, OutboundClient, OutboundError, RequestContent,
    RequestTarget,
};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::node::CallError;

/// Largest response; receipts and simulations are far below this.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that an idle connection is kept. Payments are rare: one is reused for the calls of a
/// payment.
const IDLE_MAX: Duration = Duration::from_secs(90);

/// A server and its URL. The URL may contain a key, so no message shows it.
pub(crate) struct JsonServer {
    client: OutboundClient,
    target: RequestTarget,
    answer_timeout: Duration,
}

/// A response of any status.
pub(crate) struct JsonAnswer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl JsonServer {
    pub(crate) fn new(url: &str, answer_timeout: Duration) -> Result<JsonServer, String> {
        let url = Url::parse(url).map_err(|error| format!("not a URL: {error}"))?;
        let way = ConnectVia::ByEnvironment;
        let reach = ConnectSettings { way, connect_timeout: CONNECT_TIMEOUT, idle_max: IDLE_MAX };
        let client = OutboundClient::new(reach).map_err(|error| error.to_string())?;
        let target = RequestTarget::new(&client, &url, HeaderMap::new());
        let target = target.map_err(|error| error.to_string())?;
        Ok(JsonServer { client, target, answer_timeout })
    }

    /// The same server with `path` appended to the URL, over the same connections.
    pub(crate) fn with_path(&self, path: &'static str) -> JsonServer {
        let (client, target) = (self.client.clone(), self.target.join_path(path));
        JsonServer { client, target, answer_timeout: self.answer_timeout }
    }

    pub(crate) async fn post(
        &self,
        body: &Value,
        what: &'static str,
    ) -> Result<JsonAnswer, CallError> {
        let content = RequestContent::json(body.to_string());
        self.read_answer(self.client.post(&self.target, content), what).await
    }

    pub(crate) async fn get(&self, what: &'static str) -> Result<JsonAnswer, CallError> {
        self.read_answer(self.client.get(&self.target, ""), what).await
    }

    async fn read_answer(
        &self,
        asking: impl Future<Output = Result<outbound::UpstreamResponse, OutboundError>>,
        what: &'static str,
    ) -> Result<JsonAnswer, CallError> {
        let reading = async {
            let answer = asking.await.map_err(|error| match error {
                OutboundError::Unreached(_) => {
                    CallError::Unreached { what, cause: "no connection".to_owned() }
                }
                OutboundError::Broken(cause) => CallError::lost(what, cause),
            })?;
            let status = answer.status();
            let body =
                answer.read_whole(ANSWER_BYTES_MAX).await.map_err(|unread| match unread {
                    BodyReadError::TooLong => CallError::lost(what, "the answer is too long"),
                    BodyReadError::Broken(error) => CallError::lost(what, error),
                })?;
            let body = serde_json::from_slice(&body)
                .map_err(|_| CallError::lost(what, format!("HTTP {status} without JSON")))?;
            Ok(JsonAnswer { status, body })
        };
        let in_time = timeout(self.answer_timeout, reading).await;
        in_time.unwrap_or_else(|_| Err(CallError::lost(what, "it took too long")))
    }
}

impl fmt::Debug for JsonServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonServer").finish_non_exhaustive()
    }
}
