//! One HTTP/1.1 connection without TLS, moved on by whoever uses it.
//!
//! A connection with a task of its own is woken for each thing it has to do, and wakes whoever waits
//! for it in turn. Here both are one task, and what they tell each other wakes nobody.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use http::{Request, Response};
use http_body::{Body as _, Frame};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, Connection, SendRequest};

use crate::content::Body;
use crate::stream::Stream;

pub(crate) struct Wire {
    sender: SendRequest<Body>,
    /// None once it has ended, as it does when the server closes it.
    connection: Option<Box<Connection<Stream, Body>>>,
    pub(crate) idle_since: Instant,
}

impl Wire {
    pub(crate) async fn open(stream: Stream) -> hyper::Result<Wire> {
        let (sender, connection) = http1::handshake(stream).await?;
        let connection = Some(Box::new(connection));
        Ok(Wire { sender, connection, idle_since: Instant::now() })
    }

    /// Whether it can take a request, as far as is known.
    pub(crate) fn is_ready(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Whether it can take a request, after a look at what has come since it was last moved on,
    /// such as its end.
    pub(crate) fn is_still_ready(&mut self) -> bool {
        self.move_on(&mut unheard());
        self.is_ready()
    }

    /// Sends a request and waits for the head of its answer. A request that surely was not sent
    /// comes back with the error.
    pub(crate) async fn send(
        &mut self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Body>>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        poll_fn(|context| {
            // At first without a waker: what has come is taken at once, and only if there is
            // nothing does the connection have to know whom to wake.
            for waker in [Waker::noop(), context.waker()] {
                self.move_on(&mut Context::from_waker(waker));
                if let Poll::Ready(answered) = answer.as_mut().poll(&mut unheard()) {
                    return Poll::Ready(answered);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The next frame of the answer that is under way.
    pub(crate) fn poll_frame(
        &mut self,
        mut body: Pin<&mut Incoming>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<bytes::Bytes>>>> {
        // Asking for a frame is what lets the connection read one.
        if let Poll::Ready(frame) = body.as_mut().poll_frame(&mut unheard()) {
            return Poll::Ready(frame);
        }
        self.move_on(context);
        Poll::Ready(ready!(body.poll_frame(&mut unheard())))
    }

    /// Writes and reads what can be written and read now. An end, good or bad, is told to whoever
    /// waits for an answer, and what was not sent is given back, when the connection is dropped.
    fn move_on(&mut self, context: &mut Context<'_>) {
        let Some(connection) = &mut self.connection else { return };
        if Pin::new(&mut **connection).poll(context).is_ready() {
            self.connection = None;
        }
    }
}

/// For whoever need not be woken, because it will be polled again anyway.
fn unheard() -> Context<'static> {
    Context::from_waker(Waker::noop())
}
