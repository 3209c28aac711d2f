//! An upstream that answers at once, the same for everything that is compared.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::http::HttpConnection;

/// Maps the body of a request to its answer.
pub type ScriptFunction = fn(&[u8]) -> ScriptedAnswer;

pub enum ScriptedAnswer {
    Json(String),
    /// Events, each written separately, with a pause before each but the first.
    Events {
        events: Vec<String>,
        pause: Duration,
    },
}

/// A running upstream, which stops on drop.
pub struct ScriptedUpstream {
    pub address: SocketAddr,
    _serving: JoinSet<()>,
}

impl ScriptedUpstream {
    pub async fn start(script: ScriptFunction) -> ScriptedUpstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("a socket takes its options");
                connections.spawn(serve_connection(HttpConnection::from_stream(stream), script));
            }
        });
        ScriptedUpstream { address, _serving: serving }
    }
}

async fn serve_connection(mut connection: HttpConnection, script: ScriptFunction) {
    while let Ok(Some(request)) = connection.receive_message().await {
        let answer = script(request.body);
        if send_answer(&mut connection, answer).await.is_err() {
            return;
        }
    }
}

async fn send_answer(connection: &mut HttpConnection, answer: ScriptedAnswer) -> io::Result<()> {
    let (events, pause) = match answer {
        ScriptedAnswer::Json(body) => {
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            );
            return connection.send(answer.as_bytes()).await;
        }
        ScriptedAnswer::Events { events, pause } => (events, pause),
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    connection.send(head.as_bytes()).await?;
    for (number, event) in events.iter().enumerate() {
        if 0 < number && !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let length = event.len();
        connection.send(format!("{length:x}\r\n{event}\r\n").as_bytes()).await?;
    }
    connection.send(b"0\r\n\r\n").await
}
