//! A proxy between a store and its server that can cut or freeze a connection at a chosen moment,
//! or drop everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::server;

/// The moment at which the next connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Never = 0,
    /// The server never receives the next commit.
    BeforeCommit = 1,
    /// The server commits, and its answer is lost.
    AfterCommit = 2,
    /// The server never receives the next commit, and the connection stays open for ever: the
    /// process on the other side hangs.
    FreezeBeforeCommit = 3,
}

pub(crate) struct Proxy {
    port: u16,
    cut: Arc<AtomicU8>,
    is_swallowing: Arc<AtomicBool>,
    _tasks: tokio::task::JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(Cut::Never as u8));
        let mut tasks = tokio::task::JoinSet::new();
        let is_swallowing = Arc::new(AtomicBool::new(false));
        let (seen, swallowing) = (Arc::clone(&cut), Arc::clone(&is_swallowing));
        tasks.spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.spawn(pass(client, Arc::clone(&seen), Arc::clone(&swallowing)));
            }
        });
        Proxy { port, cut, is_swallowing, _tasks: tasks }
    }

    /// The URL of the same database through this proxy.
    pub(crate) fn url(&self, direct: &str) -> String {
        direct.replace(&format!(":{}/", server().port), &format!(":{}/", self.port))
    }

    pub(crate) fn cut(&self, when: Cut) {
        self.cut.store(when as u8, Ordering::SeqCst);
    }

    /// If true, everything is read from now on and nothing is forwarded. Connections that lost data
    /// stay unusable.
    pub(crate) fn swallow(&self, is_swallowing: bool) {
        self.is_swallowing.store(is_swallowing, Ordering::SeqCst);
    }

    /// True once the cut has happened.
    pub(crate) fn has_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst) == Cut::Never as u8
    }
}

async fn pass(mut client: TcpStream, cut: Arc<AtomicU8>, is_swallowing: Arc<AtomicBool>) {
    let mut server = TcpStream::connect(("127.0.0.1", server().port)).await.unwrap();
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let is_commit = asked[..length].windows(6).any(|bytes| bytes == b"COMMIT");
                let when = cut.load(Ordering::SeqCst);
                if is_commit && when != Cut::Never as u8 {
                    cut.store(Cut::Never as u8, Ordering::SeqCst);
                    if when == Cut::FreezeBeforeCommit as u8 {
                        return std::future::pending().await;
                    }
                    if when == Cut::AfterCommit as u8 {
                        server.write_all(&asked[..length]).await.unwrap();
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                    return;
                }
                if is_swallowing.load(Ordering::SeqCst) {
                    return std::future::pending().await;
                }
                if server.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
