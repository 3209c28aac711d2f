//! Sends the requests of checks, each with a total timeout.

use std::time::Duration;

use http::HeaderMap;
use outbound::{
    ConnectSettings, ConnectVia, OutboundClient, OutboundError, RequestContent, RequestTarget,
    UpstreamResponse,
};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::CheckFinding;

/// Timeout of a GET request and its response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longer than `ANSWER_TIMEOUT`, so that a GET to a host that drops packets times out.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the time after which servers close idle connections, 5 s for many.
const IDLE_MAX: Duration = Duration::from_secs(4);

/// A client with the headers of every request.
pub(super) struct ProbeClient {
    client: OutboundClient,
    headers: HeaderMap,
}

/// A response whose body must arrive before the deadline of its request.
pub(super) struct ProbeResponse {
    pub(super) head: UpstreamResponse,
    deadline: Instant,
}

/// The reason for a missing response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeFailure {
    TimedOut,
    /// The server was not reached, or closed the connection.
    NotAnswered,
}

impl ProbeClient {
    /// Returns a client without headers, or a finding with the reason why there is none.
    pub(super) fn new() -> Result<ProbeClient, CheckFinding> {
        let settings = ConnectSettings {
            way: ConnectVia::ByEnvironment,
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: IDLE_MAX,
        };
        let client =
            outbound::check_system_certificates().and_then(|()| OutboundClient::new(settings));
        let client = client.map_err(|error| {
            let fix = "install the system's root certificates (package ca-certificates)";
            CheckFinding::failed("outgoing requests", error.to_string(), fix)
        })?;
        Ok(ProbeClient { client, headers: HeaderMap::new() })
    }

    /// Returns a client that sends `headers` over the same connections.
    pub(super) fn with_headers(&self, headers: HeaderMap) -> ProbeClient {
        ProbeClient { client: self.client.clone(), headers }
    }

    pub(super) async fn get(&self, url: &str) -> Result<ProbeResponse, ProbeFailure> {
        let target = self.build_target(url)?;
        receive_head(self.client.get(&target, ""), ANSWER_TIMEOUT).await
    }

    pub(super) async fn post(
        &self,
        url: &str,
        body: &Value,
        answer_timeout: Duration,
    ) -> Result<ProbeResponse, ProbeFailure> {
        let target = self.build_target(url)?;
        let content = RequestContent::json(body.to_string());
        receive_head(self.client.post(&target, content), answer_timeout).await
    }

    fn build_target(&self, url: &str) -> Result<RequestTarget, ProbeFailure> {
        let url = Url::parse(url).map_err(|_| ProbeFailure::NotAnswered)?;
        RequestTarget::new(&self.client, &url, self.headers.clone())
            .map_err(|_| ProbeFailure::NotAnswered)
    }
}

async fn receive_head(
    sending: impl Future<Output = Result<UpstreamResponse, OutboundError>>,
    answer_timeout: Duration,
) -> Result<ProbeResponse, ProbeFailure> {
    let deadline = Instant::now() + answer_timeout;
    match timeout_at(deadline, sending).await {
        Ok(Ok(head)) => Ok(ProbeResponse { head, deadline }),
        Ok(Err(_)) => Err(ProbeFailure::NotAnswered),
        Err(_) => Err(ProbeFailure::TimedOut),
    }
}

impl ProbeResponse {
    /// Reads a JSON body of at most `bytes_max` bytes; None if it is not complete or not JSON.
    pub(super) async fn read_json(self, bytes_max: usize) -> Option<Value> {
        let body = timeout_at(self.deadline, self.head.read_whole(bytes_max)).await.ok()?.ok()?;
        serde_json::from_slice(&body).ok()
    }
}

impl ProbeFailure {
    /// The text of a finding; `not_answered` is used for failures other than a timeout.
    pub(super) fn describe(self, not_answered: &'static str) -> &'static str {
        match self {
            ProbeFailure::TimedOut => "no answer in time",
            ProbeFailure::NotAnswered => not_answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;

    use http::HeaderValue;
    use http::header::AUTHORIZATION;
    use serde_json::json;

    use super::*;

    /// A server that sends `answer` to its first request; joining closes the connection and returns
    /// the request.
    struct TestServer {
        url: String,
        serving: thread::JoinHandle<String>,
        close: mpsc::Sender<()>,
    }

    impl TestServer {
        fn start(answer: &'static str) -> TestServer {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}/v1", listener.local_addr().unwrap());
            let (close, closed) = mpsc::channel();
            let serving = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 4096];
                let count = stream.read(&mut request).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                closed.recv().unwrap_err();
                String::from_utf8_lossy(&request[..count]).into_owned()
            });
            TestServer { url, serving, close }
        }

        fn join(self) -> String {
            drop(self.close);
            self.serving.join().unwrap()
        }
    }

    fn client() -> ProbeClient {
        ProbeClient::new().unwrap()
    }

    #[tokio::test]
    async fn a_request_has_the_headers_of_its_client() {
        let server = TestServer::start("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        let key = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("k"))]);
        let response = client().with_headers(key).get(&server.url).await.unwrap();
        assert_eq!(response.read_json(2).await, Some(json!({})));
        assert!(server.join().contains("authorization: k\r\n"));
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let answer = "HTTP/1.1 301 Moved\r\nlocation: /v2\r\ncontent-length: 0\r\n\r\n";
        let server = TestServer::start(answer);
        let response = client().get(&server.url).await.unwrap();
        assert_eq!(response.head.status_text(), "301 Moved Permanently");
        server.join();
    }

    #[tokio::test]
    async fn a_body_counts_only_if_it_is_complete_in_time_and_within_the_bound() {
        let incomplete = TestServer::start("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}");
        let response = client().post(&incomplete.url, &json!({}), ANSWER_TIMEOUT).await.unwrap();
        let response = ProbeResponse { deadline: Instant::now(), ..response };
        assert_eq!(response.read_json(9).await, None);
        incomplete.join();
        let long = TestServer::start("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        let response = client().post(&long.url, &json!({}), ANSWER_TIMEOUT).await.unwrap();
        assert_eq!(response.read_json(1).await, None);
        long.join();
    }

    #[tokio::test]
    async fn a_silent_server_and_a_missing_one_differ() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        let failure = client().post(&url, &json!({}), Duration::from_millis(1)).await.err();
        assert_eq!(failure, Some(ProbeFailure::TimedOut));
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        for url in [&format!("http://{unused}/"), "no URL"] {
            let failure = client().get(url).await.err();
            assert_eq!(failure, Some(ProbeFailure::NotAnswered), "{url}");
        }
    }
}
