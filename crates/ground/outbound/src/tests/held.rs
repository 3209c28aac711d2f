//! A server that a test controls step by step.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A server whose connections a test controls.
pub(super) struct Held {
    pub(super) address: SocketAddr,
    pub(super) listener: TcpListener,
}

impl Held {
    pub(super) fn new() -> Held {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Held { address: listener.local_addr().unwrap(), listener }
    }

    pub(super) fn accept(&self) -> TcpStream {
        accept(&self.listener)
    }

    /// True if no other connection was opened.
    pub(super) fn is_left_alone(&self) -> bool {
        self.listener.set_nonblocking(true).unwrap();
        self.listener.accept().is_err()
    }
}

/// Accepts a connection, with a read timeout longer than any test.
pub(super) fn accept(listener: &TcpListener) -> TcpStream {
    let stream = listener.accept().unwrap().0;
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Reads one request without a body.
pub(super) fn hear(stream: &mut TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.by_ref().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Runs the blocking server part in a thread beside the client's part.
pub(super) async fn beside<T: Send + 'static>(
    server: impl FnOnce() -> T + Send + 'static,
    client: impl Future<Output = ()>,
) -> T {
    let (done, served) = tokio::sync::oneshot::channel();
    // The thread is not joined if the client's part fails.
    thread::spawn(move || drop(done.send(server())));
    client.await;
    served.await.unwrap()
}
