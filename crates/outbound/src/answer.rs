//! A server's response: a status, headers, and a body that is read as it arrives.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};
use hyper::body::Incoming;

use crate::error::OutboundError;
use crate::pieces::Pieces;
use crate::plain::PooledConnection;
use crate::wire::Head;

pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Pieces,
}

/// The reason why a body was not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    TooLong,
    Broken(OutboundError),
}

impl Answer {
    pub(crate) fn new(response: Response<Incoming>) -> Answer {
        let (head, body) = response.into_parts();
        Answer { status: head.status, headers: head.headers, body: Pieces::theirs(body) }
    }

    /// A response whose body comes over a connection of our own pool.
    pub(crate) fn over(connection: PooledConnection, head: Head) -> Answer {
        Answer { status: head.status, headers: head.headers, body: Pieces::ours(connection) }
    }

    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Only the body, so that a long read does not keep the head in memory.
    pub fn into_pieces(self) -> Pieces {
        self.body
    }

    /// The whole body. Most bodies arrive in one piece, which is returned without a copy.
    pub async fn whole(mut self, bytes_max: usize) -> Result<Bytes, Unread> {
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

    async fn next_of(&mut self, bytes_max: usize) -> Result<Option<Bytes>, Unread> {
        let piece = self.body.next().await.map_err(Unread::Broken)?;
        if piece.as_ref().is_some_and(|piece| bytes_max < piece.len()) {
            return Err(Unread::TooLong);
        }
        Ok(piece)
    }
}
