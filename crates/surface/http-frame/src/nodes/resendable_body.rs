//! The body of a forwarded request. It can be sent again as long as nothing was read of it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};

/// The body, until an attempt begins to read it.
pub(crate) struct ResendableBody {
    unread: Arc<Mutex<Option<Body>>>,
}

/// The body for one attempt. If the attempt does not read it, the next one can.
pub struct BodyAttempt {
    unread: Arc<Mutex<Option<Body>>>,
    mine: Option<Body>,
    size: SizeHint,
    is_empty: bool,
}

impl ResendableBody {
    pub(crate) fn new(body: Body) -> ResendableBody {
        ResendableBody { unread: Arc::new(Mutex::new(Some(body))) }
    }

    pub(crate) fn attempt(&self) -> BodyAttempt {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let size = unread.as_ref().map(http_body::Body::size_hint).unwrap_or_default();
        let is_empty = unread.as_ref().is_none_or(http_body::Body::is_end_stream);
        BodyAttempt { unread: Arc::clone(&self.unread), mine: None, size, is_empty }
    }

    /// The body; None if an attempt has begun to read it.
    pub(crate) fn take_back(&mut self) -> Option<Body> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl http_body::Body for BodyAttempt {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.mine.is_none() {
            let taken = self.unread.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.mine = taken;
        }
        match &mut self.mine {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.mine.as_ref().map_or(self.is_empty, http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.mine.as_ref().map_or(self.size, http_body::Body::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_body_comes_back_until_it_is_read() {
        let mut resendable = ResendableBody::new(Body::from("four"));
        let unsent = resendable.attempt();
        assert_eq!((unsent.size_hint().exact(), unsent.is_end_stream()), (Some(4), false));
        drop(unsent);
        let sent = resendable.attempt().collect().await.unwrap();
        assert_eq!(sent.to_bytes(), "four");
        assert!(resendable.take_back().is_none(), "it is gone");
        assert!(ResendableBody::new(Body::empty()).attempt().is_end_stream());
        assert!(ResendableBody::new(Body::from("four")).take_back().is_some());
    }
}
