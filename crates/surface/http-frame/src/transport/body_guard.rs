//! Keeps a value alive until the last byte of a response body was handed to the connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Frame, SizeHint};

/// Drops `kept` when the response's body ends or is dropped.
pub(crate) fn keep_until_sent<T: Send + Unpin + 'static>(kept: T, response: Response) -> Response {
    response.map(|body| Body::new(BodyWithGuard { body, _kept: kept }))
}

struct BodyWithGuard<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> http_body::Body for BodyWithGuard<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
