//! The way to a server: one POST with an answer that is read piece by piece.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;

use crate::fault::McpFault;

/// A request to the server's address, whose credentials the connector adds.
#[derive(Debug, Clone)]
pub struct McpPost {
    /// Headers of the protocol.
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The answer to a request.
pub struct McpReply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Box<dyn McpBody>,
}

/// The body of an answer.
pub trait McpBody: Send {
    /// The next piece, or None at the end.
    fn next_piece(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, McpFault>>;
}

/// Sends requests to one server. Follows no redirect and keeps no cookies.
pub trait McpConnector: Send + Sync {
    fn send_post(&self, post: McpPost) -> BoxFuture<'_, Result<McpReply, McpFault>>;
}
