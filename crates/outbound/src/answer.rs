//! What came back: a status, headers, and a body that is read as it comes.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;

use crate::fault::Fault;
use crate::plain::Lent;

pub struct Answer {
    head: Parts,
    body: Pieces,
}

/// A body, piece by piece.
pub struct Pieces {
    body: Incoming,
    /// What it comes over, if it is for us to move that on. Dropped after the body, so that it goes
    /// back if nothing is missing.
    lent: Option<Lent>,
}

/// Why a body was not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    TooLong,
    Broken(Fault),
}

impl Answer {
    pub(crate) fn new(response: Response<Incoming>) -> Answer {
        let (head, body) = response.into_parts();
        Answer { head, body: Pieces { body, lent: None } }
    }

    /// An answer whose body comes over a connection that this moves on.
    pub(crate) fn over(lent: Lent, response: Response<Incoming>) -> Answer {
        let (head, body) = response.into_parts();
        let lent = (!body.is_end_stream()).then_some(lent);
        Answer { head, body: Pieces { body, lent } }
    }

    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The body alone: what is read for long need not keep the head.
    pub fn into_pieces(self) -> Pieces {
        self.body
    }

    /// The whole body. Most come in one piece, which is handed out as it is.
    pub async fn whole(mut self, bytes_max: usize) -> Result<Bytes, Unread> {
        let Some(first) = self.body.next_of(bytes_max).await? else { return Ok(Bytes::new()) };
        if self.body.body.is_end_stream() {
            return Ok(first);
        }
        let second = self.body.next_of(bytes_max - first.len()).await?;
        let Some(second) = second else { return Ok(first) };
        let told = usize::try_from(self.body.body.size_hint().lower()).unwrap_or(bytes_max);
        let so_far = first.len() + second.len();
        let mut body = BytesMut::with_capacity(so_far + told.min(bytes_max - so_far));
        body.extend_from_slice(&first);
        body.extend_from_slice(&second);
        while let Some(piece) = self.body.next_of(bytes_max - body.len()).await? {
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }
}

impl Pieces {
    /// The next piece, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        poll_fn(|context| self.poll_next(context)).await
    }

    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        loop {
            let frame = match ready!(self.poll_frame(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Err(Fault::of_body(&error))),
                None => return Poll::Ready(Ok(None)),
            };
            // What is no data is a trailer, which nobody asked for.
            if let Ok(piece) = frame.into_data() {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
    }

    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let body = Pin::new(&mut self.body);
        let Some(lent) = &mut self.lent else { return body.poll_frame(context) };
        let frame = ready!(lent.wire().poll_frame(body, context));
        if frame.is_none() || self.body.is_end_stream() {
            self.lent = None;
        }
        Poll::Ready(frame)
    }

    async fn next_of(&mut self, bytes_max: usize) -> Result<Option<Bytes>, Unread> {
        let piece = self.next().await.map_err(Unread::Broken)?;
        if piece.as_ref().is_some_and(|piece| bytes_max < piece.len()) {
            return Err(Unread::TooLong);
        }
        Ok(piece)
    }
}
