//! The connector for servers that callers named: through the guarded fetch, over https only.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use sandbox::CallerId;
use web::{FetchFault, FetchRequest, FetchStream, WebFetcher};

use crate::connector::{McpBody, McpConnector, McpPost, McpReply};
use crate::fault::McpFault;

const ACCEPTED: &str = "application/json, text/event-stream";

/// Sends requests to a public address, with the caller's own headers.
pub struct GuardedConnector {
    pub fetcher: Arc<WebFetcher>,
    pub address: String,
    /// The caller's headers, such as its authorization. Never stored or logged.
    pub headers: HeaderMap,
    pub caller: CallerId,
    /// Time for the head of an answer.
    pub time_max: Duration,
}

impl McpConnector for GuardedConnector {
    fn send_post(&self, post: McpPost) -> BoxFuture<'_, Result<McpReply, McpFault>> {
        Box::pin(async move {
            let address = self.fetcher.parse(&self.address).map_err(to_fault)?;
            let ask = FetchRequest::post_json(self.caller, ACCEPTED, post.body, self.time_max);
            let mut headers = self.headers.clone();
            // Those of the protocol replace the caller's.
            headers.extend(post.headers);
            headers.extend(ask.headers.clone());
            let ask = ask.with_headers(headers);
            let stream = self.fetcher.open_stream(&address, &ask).await.map_err(to_fault)?;
            let (status, headers) = (stream.status, stream.headers.clone());
            Ok(McpReply { status, headers, body: Box::new(GuardedBody(stream)) })
        })
    }
}

struct GuardedBody(FetchStream);

impl McpBody for GuardedBody {
    fn next_piece(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, McpFault>> {
        Box::pin(async move { self.0.next_piece().await.map_err(to_fault) })
    }
}

fn to_fault(fault: FetchFault) -> McpFault {
    match fault {
        FetchFault::Busy => McpFault::Busy,
        FetchFault::TimedOut => McpFault::TimedOut,
        FetchFault::Unreachable => McpFault::Unreachable,
        FetchFault::Broken | FetchFault::Garbled => McpFault::Broken,
        FetchFault::Redirect(_) | FetchFault::Redirects => McpFault::Redirected,
        FetchFault::TooLarge(bytes) => McpFault::TooLarge(bytes),
        FetchFault::Address(_) | FetchFault::Private | FetchFault::NoHost => {
            McpFault::Address(fault.to_string())
        }
    }
}
