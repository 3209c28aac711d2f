//! Detects idle HTTP/2 connections: no request for a while and no response in progress. hyper has
//! its own timeout for HTTP/1.1.

use std::future::pending;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Version;
use tokio::sync::watch;
use tokio::time::timeout;

/// The requests in progress on one connection.
#[derive(Debug, Clone)]
pub(super) struct OpenRequests(Arc<watch::Sender<OpenRequestCounts>>);

#[derive(Debug, Default)]
struct OpenRequestCounts {
    open: usize,
    /// Total so far. Needed because a request may begin and end between two checks.
    begun: u64,
    /// Set for HTTP/1.1, which has its own idle timeout.
    is_http1: bool,
}

/// One request in progress, until dropped.
#[derive(Debug)]
pub(super) struct OpenRequest(OpenRequests);

impl OpenRequests {
    pub(super) fn new() -> OpenRequests {
        OpenRequests(Arc::default())
    }

    /// None for HTTP/1.1.
    pub(super) fn begin_request(&self, version: Version) -> Option<OpenRequest> {
        if version != Version::HTTP_2 {
            // Notified once only: a wake-up per request would cost too much.
            self.0.send_if_modified(|it| !mem::replace(&mut it.is_http1, true));
            return None;
        }
        self.0.send_modify(|it| {
            it.open += 1;
            it.begun += 1;
        });
        Some(OpenRequest(self.clone()))
    }

    /// Completes when no request was in progress for `idle_max`, counted from the connection on.
    /// Never completes for HTTP/1.1.
    pub(super) async fn wait_until_idle(&self, idle_max: Duration) {
        let mut requests = self.0.subscribe();
        loop {
            let Ok(now) = requests.wait_for(|it| it.open == 0).await.map(|it| it.begun) else {
                return pending().await;
            };
            let goes_on = requests.wait_for(|it| it.begun != now || it.is_http1);
            match timeout(idle_max, goes_on).await {
                Err(_) => return,
                Ok(Ok(it)) if !it.is_http1 => {}
                Ok(_) => break,
            }
        }
        pending().await
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.0.send_modify(|it| it.open = it.open.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::response::Response;

    use super::*;
    use crate::transport::body_guard::keep_until_sent;

    const IDLE: Duration = Duration::from_millis(10);
    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn a_connection_is_idle_once_its_last_answer_has_ended() {
        let under_way = OpenRequests::new();
        let request = under_way.begin_request(Version::HTTP_2).unwrap();
        let response = keep_until_sent(request, Response::new(Body::from("text")));
        assert!(
            timeout(SHORT, under_way.wait_until_idle(IDLE)).await.is_err(),
            "it is being answered"
        );
        drop(response);
        under_way.wait_until_idle(IDLE).await;
    }

    #[tokio::test]
    async fn a_connection_without_a_request_is_idle() {
        OpenRequests::new().wait_until_idle(IDLE).await;
    }

    #[tokio::test]
    async fn connections_of_the_first_version_are_left_to_the_server() {
        let under_way = OpenRequests::new();
        assert!(under_way.begin_request(Version::HTTP_11).is_none());
        assert!(timeout(SHORT, under_way.wait_until_idle(IDLE)).await.is_err());
    }
}
