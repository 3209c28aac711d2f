//! A server's response: a status, headers, and a body that is read as it arrives.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;

use crate::connection::UpstreamHead;
use crate::error::OutboundError;
use crate::pieces::BodyPieces;
use crate::pool::PooledConnection;

pub struct UpstreamResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: BodyPieces,
}

/// The reason why a body was not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum BodyReadError {
    TooLong,
    Broken(OutboundError),
}

impl UpstreamResponse {
    pub(crate) fn new(response: Response<Incoming>) -> UpstreamResponse {
        let (head, body) = response.into_parts();
        UpstreamResponse {
            status: head.status,
            headers: head.headers,
            body: BodyPieces::from_hyper(body),
        }
    }

    /// A response whose body comes over a connection of our own pool.
    pub(crate) fn from_pool(connection: PooledConnection, head: UpstreamHead) -> UpstreamResponse {
        UpstreamResponse {
            status: head.status,
            headers: head.headers,
            body: BodyPieces::from_pool(connection),
        }
    }

    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// The status with its standard name, such as `404 Not Found`.
    pub fn status_text(&self) -> String {
        self.status.to_string()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Only the body, so that a long read does not keep the head in memory.
    pub fn into_pieces(self) -> BodyPieces {
        self.body
    }

    /// The whole body. Most bodies arrive in one piece, which is returned without a copy.
    pub async fn read_whole(mut self, bytes_max: usize) -> Result<Bytes, BodyReadError> {
        let Some(first) = self.next_of(bytes_max).await? else { return Ok(Bytes::new()) };
        if self.body.is_over() {
            return Ok(first);
        }
        let second = self.next_of(bytes_max - first.len()).await?;
        let Some(second) = second else { return Ok(first) };
        let told = usize::try_from(self.body.left_min()).unwrap_or(bytes_max);
        let so_far = first.len() + second.len();
        let mut body = BytesMut::with_capacity(so_far + told.min(bytes_max - so_far));
        body.extend_from_slice(&first);
        body.extend_from_slice(&second);
        while let Some(piece) = self.next_of(bytes_max - body.len()).await? {
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }

    async fn next_of(&mut self, bytes_max: usize) -> Result<Option<Bytes>, BodyReadError> {
        let piece = self.body.next().await.map_err(BodyReadError::Broken)?;
        if piece.as_ref().is_some_and(|piece| bytes_max < piece.len()) {
            return Err(BodyReadError::TooLong);
        }
        Ok(piece)
    }
}
