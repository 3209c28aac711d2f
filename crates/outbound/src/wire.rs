//! One HTTP/1.1 connection without TLS, moved on by whoever uses it.
//!
//! A connection with a task of its own is woken for each thing it has to do, and wakes whoever waits
//! for it in turn. Here both are one task, and what they tell each other wakes nobody.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use http::{Request, Response};
use http_body::{Body as _, Frame};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, Connection, SendRequest};

use crate::content::Body;
use crate::ear::Ear;
use crate::stream::Stream;

pub(crate) struct Wire {
    sender: SendRequest<Body>,
    /// None once it has ended, as it does when the server closes it.
    connection: Option<Box<Connection<Stream, Body>>>,
    ear: Arc<Ear>,
    /// Wakes the ear; made once.
    waker: Waker,
    pub(crate) idle_since: Instant,
}

impl Wire {
    pub(crate) async fn open(stream: Stream) -> hyper::Result<Wire> {
        let (sender, connection) = http1::handshake(stream).await?;
        let connection = Some(Box::new(connection));
        let ear = Ear::new();
        let waker = Waker::from(Arc::clone(&ear));
        Ok(Wire { sender, connection, ear, waker, idle_since: Instant::now() })
    }

    /// Nobody uses it any more: it must not keep the memory of the task that did.
    pub(crate) fn rest(&mut self) {
        self.idle_since = Instant::now();
        self.ear.hear_for(Waker::noop());
    }

    /// Whether it can take a request, as far as is known.
    pub(crate) fn is_ready(&self) -> bool {
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Whether it can take a request, after a look at what has come since it was last moved on,
    /// such as its end.
    pub(crate) fn is_still_ready(&mut self) -> bool {
        self.move_on(Waker::noop());
        self.is_ready()
    }

    /// Sends a request and waits for the head of its answer. A request that surely was not sent
    /// comes back with the error.
    pub(crate) async fn send(
        &mut self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Body>>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        poll_fn(|context| self.poll_heard(context.waker(), || answer.as_mut().poll(&mut unheard())))
            .await
    }

    /// The next frame of the answer that is under way.
    pub(crate) fn poll_frame(
        &mut self,
        mut body: Pin<&mut Incoming>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<bytes::Bytes>>>> {
        let (known, _) = self.ear.shut_while(|| body.as_mut().poll_frame(&mut unheard()));
        if known.is_ready() {
            return known;
        }
        self.poll_heard(context.waker(), || body.poll_frame(&mut unheard()))
    }

    /// Moves the connection on, and then sees what has come of it. If nothing has, the connection
    /// wakes the task.
    fn poll_heard<T>(&mut self, task: &Waker, hear: impl FnOnce() -> Poll<T>) -> Poll<T> {
        self.ear.hear_for(task);
        let waker = self.waker.clone();
        self.move_on(&waker);
        let (heard, has_missed) = self.ear.shut_while(hear);
        if heard.is_pending() && has_missed {
            task.wake_by_ref();
        }
        heard
    }

    /// Writes and reads what can be written and read now. An end, good or bad, is told to whoever
    /// waits for an answer, and what was not sent is given back, when the connection is dropped.
    fn move_on(&mut self, waker: &Waker) {
        let Some(connection) = &mut self.connection else { return };
        if Pin::new(&mut **connection).poll(&mut Context::from_waker(waker)).is_ready() {
            self.connection = None;
        }
    }
}

/// For whoever need not be woken, because it will be polled again anyway.
fn unheard() -> Context<'static> {
    Context::from_waker(Waker::noop())
}
