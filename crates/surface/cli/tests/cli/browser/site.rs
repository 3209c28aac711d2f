//! A web server and a name resolver for the tests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use domain::web_address::AddressScope;
use http::HeaderValue;
use sandbox::CallerId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use web::{LookupFuture, NameResolver, WebFetcher, system_tls_config};

/// Answers every request with the bytes that `answer` returns for its path.
pub(super) struct TestSite {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl TestSite {
    pub(super) async fn start(answer: fn(&str) -> Vec<u8>) -> TestSite {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&seen);
        let tasks = TaskTracker::new();
        let each = tasks.clone();
        let serving = tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                each.spawn(async move {
                    let _ = serve(stream, &noted, answer).await;
                });
            }
        });
        TestSite { address, seen, _serving: AbortOnDropHandle::new(serving) }
    }

    /// Returns the heads of the received requests.
    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<String>>,
    answer: fn(&str) -> Vec<u8>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default().to_owned();
    seen.lock().unwrap().push(head);
    stream.write_all(&answer(&path)).await?;
    stream.shutdown().await
}

pub(super) fn page(media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Returns a fetcher that applies the rules for public addresses but connects only to the site.
pub(super) fn fetcher(site: &TestSite) -> WebFetcher {
    let server = site.address;
    let (tls, agent) = (system_tls_config().unwrap(), HeaderValue::from_static("tests"));
    let fetcher = WebFetcher::new(Arc::new(SiteNames), AddressScope::Public, tls, agent);
    fetcher.with_address_override(Arc::new(move |_| server))
}

struct SiteNames;

impl NameResolver for SiteNames {
    fn resolve_addresses<'a>(&'a self, name: &'a str, _: Option<CallerId>) -> LookupFuture<'a> {
        let number = if name == "inward.example.com" { "127.0.0.1" } else { "93.184.216.34" };
        Box::pin(async move { Ok(vec![number.parse().unwrap()]) })
    }
}
