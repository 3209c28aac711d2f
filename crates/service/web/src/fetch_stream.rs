//! A response that is read as it arrives.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use hyper::body::{Body as _, Incoming};

use crate::caller_permits::CallerPermit;
use crate::fault::FetchFault;

/// The head of a response, and its body, which is not decompressed. Dropping it closes the
/// connection. The reader bounds the time and the bytes.
pub struct FetchStream {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    /// Drives the connection. Its end is seen by the reader of the body.
    driving: Option<BoxFuture<'static, ()>>,
    _turn: CallerPermit,
}

impl FetchStream {
    pub(crate) fn new(
        response: http::Response<Incoming>,
        driving: Option<BoxFuture<'static, ()>>,
        turn: CallerPermit,
    ) -> FetchStream {
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        FetchStream { status, headers, body, driving, _turn: turn }
    }

    /// The next piece of the body, or None at the end.
    pub async fn next_piece(&mut self) -> Result<Option<Bytes>, FetchFault> {
        poll_fn(|context| self.poll_piece(context)).await
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, FetchFault>> {
        if let Some(driving) = &mut self.driving
            && driving.as_mut().poll(context).is_ready()
        {
            self.driving = None;
        }
        loop {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(piece) => return Poll::Ready(Ok(Some(piece))),
                    // Trailers.
                    Err(_) => continue,
                },
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(FetchFault::Broken)),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
