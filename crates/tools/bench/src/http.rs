//! A minimal HTTP/1.1 client and server for measurements on the loopback.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// More than any head in these measurements has.
const HEAD_LINES_MAX: usize = 100;

/// A keep-alive connection.
pub struct HttpConnection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

/// A received message.
pub struct ReceivedMessage<'a> {
    pub first_line: String,
    pub body: &'a [u8],
    /// The time at which the first bytes of the body arrived.
    pub body_began: Instant,
}

enum BodyLength {
    Bytes(usize),
    Chunked,
}

impl HttpConnection {
    pub async fn open(address: SocketAddr) -> io::Result<HttpConnection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(HttpConnection::from_stream(stream))
    }

    pub fn from_stream(stream: TcpStream) -> HttpConnection {
        HttpConnection { stream: BufReader::new(stream), body: Vec::new() }
    }

    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(message).await
    }

    /// The next complete message; `None` if the other side has closed.
    pub async fn receive_message(&mut self) -> io::Result<Option<ReceivedMessage<'_>>> {
        let Some((first_line, length)) = self.read_head().await? else { return Ok(None) };
        self.body.clear();
        let body_began = match length {
            BodyLength::Bytes(0) => Instant::now(),
            BodyLength::Bytes(length) => {
                self.stream.fill_buf().await?;
                let body_began = Instant::now();
                self.read_body_bytes(length).await?;
                body_began
            }
            BodyLength::Chunked => self.read_chunks().await?,
        };
        Ok(Some(ReceivedMessage { first_line, body: &self.body, body_began }))
    }

    /// Reads the head and the first bytes of a body, without waiting for the rest.
    pub async fn receive_start(&mut self) -> io::Result<()> {
        self.read_head().await?;
        self.stream.fill_buf().await?;
        Ok(())
    }

    async fn read_head(&mut self) -> io::Result<Option<(String, BodyLength)>> {
        let (mut first_line, mut length) = (String::new(), BodyLength::Bytes(0));
        for _ in 0..HEAD_LINES_MAX {
            let mut line = String::new();
            if self.stream.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            let line = line.trim_end();
            if line.is_empty() {
                return Ok(Some((first_line, length)));
            }
            if first_line.is_empty() {
                line.clone_into(&mut first_line);
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                length = BodyLength::Bytes(value.trim().parse().map_err(io::Error::other)?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                length = BodyLength::Chunked;
            }
        }
        Err(io::Error::other("the head does not end"))
    }

    async fn read_chunks(&mut self) -> io::Result<Instant> {
        let mut body_began = None;
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size).await?;
            body_began.get_or_insert_with(Instant::now);
            let size = usize::from_str_radix(size.trim_end(), 16).map_err(io::Error::other)?;
            self.read_body_bytes(size).await?;
            let mut end_of_chunk = [0; 2];
            self.stream.read_exact(&mut end_of_chunk).await?;
            if size == 0 {
                return Ok(body_began.unwrap_or_else(Instant::now));
            }
        }
    }

    async fn read_body_bytes(&mut self, length: usize) -> io::Result<()> {
        let before = self.body.len();
        self.body.resize(before + length, 0);
        self.stream.read_exact(&mut self.body[before..]).await?;
        Ok(())
    }
}
