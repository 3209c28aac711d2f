//! HTTP/1.1 on the loopback as a measurement needs it: bytes out, a status and a length back.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// More than any head on the loopback has.
const HEAD_LINES_MAX: usize = 100;

/// A connection that is kept open from one request to the next.
pub struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection::over(stream))
    }

    pub fn over(stream: TcpStream) -> Connection {
        Connection { stream: BufReader::new(stream), body: Vec::new() }
    }

    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(message).await
    }

    /// The first line of the next message and its body; none if the other side is done.
    pub async fn receive(&mut self) -> io::Result<Option<(String, &[u8])>> {
        let (mut first, mut length) = (String::new(), 0);
        for _ in 0..HEAD_LINES_MAX {
            let mut line = String::new();
            if self.stream.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            let line = line.trim_end();
            if line.is_empty() {
                self.body.resize(length, 0);
                self.stream.read_exact(&mut self.body).await?;
                return Ok(Some((first, &self.body)));
            }
            if first.is_empty() {
                line.clone_into(&mut first);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        Err(io::Error::other("the head does not end"))
    }
}
