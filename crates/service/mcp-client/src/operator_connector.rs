//! The connector for servers that the operator configured. They may be inside the operator's network.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderValue};
use outbound::{BodyPieces, OutboundClient, OutboundError, RequestContent, RequestTarget};
use url::Url;

use crate::connector::{McpBody, McpConnector, McpPost, McpReply};
use crate::fault::McpFault;

pub(crate) const ACCEPTED: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");

/// The URL or the authorization of a server cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMcpServer {
    #[error("its URL is not an http or https URL")]
    Url,
    #[error("its authorization is not one line of ASCII")]
    Authorization,
}

/// Sends requests over the operator's pooled connections, with the operator's authorization.
pub struct OperatorConnector {
    client: OutboundClient,
    target: RequestTarget,
}

impl OperatorConnector {
    /// `authorization` is sent as a bearer token.
    pub fn new(
        client: OutboundClient,
        url: &str,
        authorization: Option<&str>,
    ) -> Result<OperatorConnector, InvalidMcpServer> {
        let url = Url::parse(url).map_err(|_| InvalidMcpServer::Url)?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, ACCEPTED);
        if let Some(token) = authorization {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| InvalidMcpServer::Authorization)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let target = RequestTarget::new(&client, &url, headers);
        let target = target.map_err(|_| InvalidMcpServer::Url)?;
        Ok(OperatorConnector { client, target })
    }
}

impl McpConnector for OperatorConnector {
    fn send_post(&self, post: McpPost) -> BoxFuture<'_, Result<McpReply, McpFault>> {
        Box::pin(async move {
            let mut target = self.target.clone();
            target.set_headers(post.headers);
            let sent = self.client.post(&target, RequestContent::json(post.body)).await;
            let response = sent.map_err(|error| match error {
                OutboundError::Unreached(_) => McpFault::Unreachable,
                OutboundError::Broken(_) => McpFault::Broken,
            })?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = Box::new(OperatorBody(response.into_pieces()));
            Ok(McpReply { status, headers, body })
        })
    }
}

struct OperatorBody(BodyPieces);

impl McpBody for OperatorBody {
    fn next_piece(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, McpFault>> {
        Box::pin(async move { self.0.next().await.map_err(|_| McpFault::Broken) })
    }
}
