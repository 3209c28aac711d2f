//! A web server and a resolver for the tests.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use domain::web_address::AddressScope;
use http::HeaderValue;
use sandbox::CallerId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::{LookupFuture, NameResolver, WebFetcher, system_tls_config};

/// Answers requests by path with fixed bytes.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    pub(super) names: Arc<TrapNames>,
    /// Keeps connections open after the response.
    pub(super) holds: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Site {
    pub(super) async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, holds) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (noted, held) = (Arc::clone(&seen), Arc::clone(&holds));
        let tasks = TaskTracker::new();
        let each = tasks.clone();
        let answer = Arc::new(answer);
        let serving = tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (noted, held, answer) =
                    (Arc::clone(&noted), Arc::clone(&held), Arc::clone(&answer));
                each.spawn(async move {
                    let _ = serve(stream, &noted, &held, answer.as_ref()).await;
                });
            }
        });
        let names = Arc::new(TrapNames::default());
        Site { address, names, holds, seen, _serving: AbortOnDropHandle::new(serving) }
    }

    /// The heads of the received requests.
    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<String>>,
    holds: &AtomicBool,
    answer: &(dyn Fn(&str) -> Vec<u8> + Send + Sync),
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(head);
    stream.write_all(&answer(&path)).await?;
    if holds.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
    stream.shutdown().await
}

pub(super) fn page(media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A fetcher that checks addresses as in production and connects only to the test site.
pub(super) fn fetcher(site: &Site) -> WebFetcher {
    let server = site.address;
    let names: Arc<dyn NameResolver> = site.names.clone();
    let (tls, agent) = (system_tls_config().unwrap(), HeaderValue::from_static("tests"));
    WebFetcher::new(names, AddressScope::Public, tls, agent)
        .with_address_override(Arc::new(move |_| server))
}

#[derive(Default)]
pub(super) struct TrapNames {
    pub(super) lookups: AtomicUsize,
    /// The callers of the lookups.
    pub(super) callers: Mutex<Vec<Option<CallerId>>>,
}

impl NameResolver for TrapNames {
    fn resolve_addresses<'a>(
        &'a self,
        name: &'a str,
        caller: Option<CallerId>,
    ) -> LookupFuture<'a> {
        self.callers.lock().unwrap().push(caller);
        let earlier = self.lookups.fetch_add(1, Ordering::Relaxed);
        let numbers: &[&str] = match name {
            "public.example.com" => &["93.184.216.34"],
            "inward.example.com" => &["127.0.0.1"],
            "metadata.example.com" => &["169.254.169.254"],
            "mapped.example.com" => &["::ffff:10.0.0.1"],
            "tunnel.example.com" => &["2002:7f00:1::"],
            "nat64.example.com" => &["64:ff9b::7f00:1"],
            "unique.example.com" => &["fd00::1"],
            "mixed.example.com" => &["93.184.216.34", "10.0.0.1"],
            "rebinding.example.com" if earlier == 0 => &["93.184.216.34"],
            "rebinding.example.com" => &["127.0.0.1"],
            _ => &[],
        };
        let numbers = numbers.iter().map(|it| it.parse().unwrap()).collect();
        Box::pin(async move { Ok(numbers) })
    }
}
