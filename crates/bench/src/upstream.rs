//! An upstream that answers at once, the same one behind everything that is compared.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::http::Connection;

/// From the body of a request to the body of its answer.
pub type Script = fn(&[u8]) -> String;

/// A running upstream; it ends when it is dropped.
pub struct Upstream {
    pub address: SocketAddr,
    _serving: JoinSet<()>,
}

impl Upstream {
    pub async fn start(script: Script) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("a socket takes its options");
                connections.spawn(serve(Connection::over(stream), script));
            }
        });
        Upstream { address, _serving: serving }
    }
}

async fn serve(mut connection: Connection, script: Script) {
    while let Ok(Some((_, body))) = connection.receive().await {
        let body = script(body);
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n\
             {body}"
        );
        if connection.send(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
