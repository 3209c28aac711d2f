//! The body of a response, piece by piece.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use crate::error::OutboundError;
use crate::plain::PooledConnection;

/// A body, read as it arrives.
pub struct Pieces(Source);

enum Source {
    /// Driven by hyper's connection task.
    Theirs(Incoming),
    /// A connection of our own pool, which this reads from and returns after the last piece.
    Ours(PooledConnection),
    Over,
}

impl Pieces {
    pub(crate) fn theirs(body: Incoming) -> Pieces {
        Pieces(Source::Theirs(body))
    }

    pub(crate) fn ours(mut connection: PooledConnection) -> Pieces {
        let is_over = connection.wire().is_over();
        Pieces(if is_over { Source::Over } else { Source::Ours(connection) })
    }

    /// The next piece, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, OutboundError> {
        poll_fn(|context| self.poll_next(context)).await
    }

    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, OutboundError>> {
        match &mut self.0 {
            Source::Theirs(body) => poll_data(body, context),
            Source::Ours(connection) => {
                let piece = ready!(connection.wire().poll_piece(context));
                if connection.wire().is_over() {
                    self.0 = Source::Over;
                }
                Poll::Ready(piece)
            }
            Source::Over => Poll::Ready(Ok(None)),
        }
    }

    /// True if it is known that no piece follows.
    pub(crate) fn is_over(&self) -> bool {
        match &self.0 {
            Source::Theirs(body) => body.is_end_stream(),
            Source::Ours(_) => false,
            Source::Over => true,
        }
    }

    /// A lower bound of the remaining bytes.
    pub(crate) fn left_min(&mut self) -> u64 {
        match &mut self.0 {
            Source::Theirs(body) => body.size_hint().lower(),
            Source::Ours(connection) => connection.wire().left_min(),
            Source::Over => 0,
        }
    }
}

fn poll_data(
    body: &mut Incoming,
    context: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, OutboundError>> {
    loop {
        let frame = match ready!(Pin::new(&mut *body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Err(OutboundError::of_body(&error))),
            None => return Poll::Ready(Ok(None)),
        };
        // Other frames are trailers, which are ignored.
        if let Ok(piece) = frame.into_data() {
            return Poll::Ready(Ok(Some(piece)));
        }
    }
}
