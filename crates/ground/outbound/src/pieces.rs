//! The body of a response, piece by piece.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use crate::error::OutboundError;
use crate::pool::PooledConnection;

/// A body, read as it arrives.
pub struct BodyPieces(BodySource);

enum BodySource {
    /// Driven by hyper's connection task.
    Theirs(Incoming),
    /// A connection of our own pool, which this reads from and returns after the last piece.
    Ours(PooledConnection),
    Over,
}

impl BodyPieces {
    pub(crate) fn from_hyper(body: Incoming) -> BodyPieces {
        BodyPieces(BodySource::Theirs(body))
    }

    pub(crate) fn from_pool(mut connection: PooledConnection) -> BodyPieces {
        let is_over = connection.connection().is_over();
        BodyPieces(if is_over { BodySource::Over } else { BodySource::Ours(connection) })
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
            BodySource::Theirs(body) => poll_data(body, context),
            BodySource::Ours(connection) => {
                let piece = ready!(connection.connection().poll_piece(context));
                if connection.connection().is_over() {
                    self.0 = BodySource::Over;
                }
                Poll::Ready(piece)
            }
            BodySource::Over => Poll::Ready(Ok(None)),
        }
    }

    /// True if it is known that no piece follows.
    pub(crate) fn is_over(&self) -> bool {
        match &self.0 {
            BodySource::Theirs(body) => body.is_end_stream(),
            BodySource::Ours(_) => false,
            BodySource::Over => true,
        }
    }

    /// A lower bound of the remaining bytes.
    pub(crate) fn left_min(&mut self) -> u64 {
        match &mut self.0 {
            BodySource::Theirs(body) => body.size_hint().lower(),
            BodySource::Ours(connection) => connection.connection().left_min(),
            BodySource::Over => 0,
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
