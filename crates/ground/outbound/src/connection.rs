//! One HTTP/1.1 connection without TLS. The task that waits for a response also writes the request
//! and reads the response.
//!
//! The connection has no task of its own and keeps no buffer while it waits: bytes are read into a
//! buffer whose size follows earlier reads, and the buffer is handed out without a copy.

mod chunks;
mod framing;
mod head;
mod malformed;

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead as _, ReadBuf};
use tokio_util::io::poll_read_buf;

use crate::error::OutboundError;
use crate::outgoing_request::OutgoingRequest;
use crate::socket::PlainSocket;
use framing::BodyFraming;
use head::ParsedHead;
use malformed::MalformedResponse;

pub(crate) use head::UpstreamHead;

/// Stack buffer for heads, events and small bodies.
const READ_BYTES_MIN: usize = 8 * 1024;
/// Buffers for long bodies double up to this size while the server fills them.
const READ_BYTES_MAX: usize = 256 * 1024;
/// Maximum informational responses, such as 103, before the final one.
pub(crate) const INTERIM_HEADS_MAX: usize = 16;

pub(crate) struct PlainConnection {
    socket: PlainSocket,
    /// `Some` until it is written completely.
    request: Option<OutgoingRequest>,
    /// The body's framing, once the head has arrived.
    answer: Option<BodyFraming>,
    /// Bytes received and not handed out yet.
    unread: Bytes,
    /// Buffer size of the next read of a body.
    read_bytes: usize,
    /// Set if no request can follow on this connection.
    is_last: bool,
    pub(crate) idle_since: Instant,
}

pub(crate) enum SendError {
    /// The server received no byte of the request.
    Unsent(OutgoingRequest, io::Error),
    Broken(OutboundError),
}

#[derive(Debug, thiserror::Error)]
#[error("connection closed before message completed")]
struct ConnectionClosed;

impl PlainConnection {
    pub(crate) fn new(socket: PlainSocket) -> PlainConnection {
        PlainConnection {
            socket,
            request: None,
            answer: Some(BodyFraming::NOTHING),
            unread: Bytes::new(),
            read_bytes: READ_BYTES_MIN,
            is_last: false,
            idle_since: Instant::now(),
        }
    }

    /// True if the last response was read completely and another request can follow.
    pub(crate) fn is_free(&self) -> bool {
        let is_over = self.is_over() && self.unread.is_empty();
        is_over && self.request.is_none() && !self.is_last
    }

    /// Discards the bytes of an unwanted rest that have arrived, then checks like `is_free`.
    pub(crate) fn is_free_without_rest(&mut self) -> bool {
        self.discard_arrived();
        let mut room = [0; READ_BYTES_MIN];
        let is_worthwhile = self.answer.is_some() && !self.is_over() && !self.is_last;
        if is_worthwhile && let Ok(count) = self.socket.try_read(&mut room) {
            self.unread = Bytes::copy_from_slice(&room[..count]);
            self.discard_arrived();
        }
        self.is_free()
    }

    /// True if the server has neither closed an idle connection nor sent anything.
    pub(crate) fn is_still_open(&self) -> bool {
        let looked = self.socket.try_read(&mut [0]);
        looked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// True if the body is complete.
    pub(crate) fn is_over(&self) -> bool {
        self.answer.is_some_and(|framing| framing.is_over())
    }

    /// A lower bound of the remaining bytes of the body.
    pub(crate) fn left_min(&self) -> u64 {
        self.answer.map_or(0, |framing| framing.left_min())
    }

    /// Writes a request and waits for the head of its response.
    pub(crate) async fn send(
        &mut self,
        request: OutgoingRequest,
    ) -> Result<UpstreamHead, SendError> {
        self.request = Some(request);
        self.answer = None;
        let mut interim_heads = 0;
        poll_fn(|context| self.poll_head(context, &mut interim_heads)).await
    }

    /// The next piece of the body, or `None` at its end.
    pub(crate) fn poll_piece(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, OutboundError>> {
        loop {
            let Some(framing) = &mut self.answer else {
                return Poll::Ready(Err(OutboundError::of_reading(&ConnectionClosed)));
            };
            match framing.take(&mut self.unread) {
                Ok(Some(piece)) => return Poll::Ready(Ok(Some(piece))),
                Ok(None) if framing.is_over() => return Poll::Ready(Ok(None)),
                Ok(None) => {}
                Err(malformed) => return self.fail_response(&malformed),
            }
            // The response may have started before a long request was written completely.
            if let Err(error) = self.write(context) {
                return self.fail_response(&error);
            }
            match ready!(self.poll_read(context)) {
                Ok(0) if self.answer == Some(BodyFraming::ToClose) => {
                    self.answer = Some(BodyFraming::NOTHING);
                }
                Ok(0) => return self.fail_response(&ConnectionClosed),
                Ok(_) => {}
                Err(error) => return self.fail_response(&error),
            }
        }
    }

    fn poll_head(
        &mut self,
        context: &mut Context<'_>,
        interim_heads: &mut usize,
    ) -> Poll<Result<UpstreamHead, SendError>> {
        if let Err(error) = self.write(context) {
            return Poll::Ready(Err(match self.request.take_if(|request| !request.is_begun()) {
                Some(unsent) => SendError::Unsent(unsent, error),
                None => to_send_error(&error),
            }));
        }
        loop {
            let parsed = match self.unread.is_empty() {
                true => Ok(ParsedHead::Begun),
                false => head::parse_head(&mut self.unread),
            };
            match parsed {
                Ok(ParsedHead::Whole { head, framing, is_last }) => {
                    self.answer = Some(framing);
                    self.is_last |= is_last;
                    return Poll::Ready(Ok(head));
                }
                Ok(ParsedHead::Interim) if *interim_heads < INTERIM_HEADS_MAX => {
                    *interim_heads += 1;
                    continue;
                }
                Ok(ParsedHead::Interim) => {
                    let malformed = MalformedResponse("too much before it");
                    return Poll::Ready(Err(to_send_error(&malformed)));
                }
                Ok(ParsedHead::Begun) => {}
                Err(malformed) => return Poll::Ready(Err(to_send_error(&malformed))),
            }
            match ready!(self.poll_read_little(context)) {
                Ok(0) => return Poll::Ready(Err(to_send_error(&ConnectionClosed))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(to_send_error(&error))),
            }
        }
    }

    /// Writes as much as possible now. A server that closes may have responded before, so that a
    /// failed write of the request is not an error yet.
    fn write(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(request) = &mut self.request else { return Ok(()) };
        match request.poll_write(&mut self.socket, context) {
            Poll::Pending => return Ok(()),
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) if request.is_begun() && is_closed(&error) => {
                self.is_last = true;
            }
            Poll::Ready(Err(error)) => return Err(error),
        }
        self.request = None;
        Ok(())
    }

    /// Reads the next bytes of a body, after all earlier ones were handed out.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let room = self.read_bytes;
        let count = if room == READ_BYTES_MIN {
            ready!(self.poll_read_little(context))?
        } else {
            // No buffer is allocated while it waits.
            ready!(self.socket.poll_read_ready(context))?;
            let mut buffer = BytesMut::with_capacity(room);
            let count = ready!(poll_read_buf(Pin::new(&mut self.socket), context, &mut buffer))?;
            self.unread = buffer.freeze();
            count
        };
        if room <= count {
            self.read_bytes = (room * 2).min(READ_BYTES_MAX);
        } else if count < room / 2 {
            self.read_bytes = (room / 2).max(READ_BYTES_MIN);
        }
        Poll::Ready(Ok(count))
    }

    /// Appends to the unread bytes.
    fn poll_read_little(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = [MaybeUninit::uninit(); READ_BYTES_MIN];
        let mut buffer = ReadBuf::uninit(&mut room);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut buffer))?;
        let came = buffer.filled();
        self.unread = if self.unread.is_empty() {
            Bytes::copy_from_slice(came)
        } else {
            [&self.unread, came].concat().into()
        };
        Poll::Ready(Ok(came.len()))
    }

    /// Discards the bytes of the body that have arrived.
    fn discard_arrived(&mut self) {
        let Some(framing) = &mut self.answer else { return };
        // On an error the bytes stay, and the body is not over.
        while let Ok(Some(_)) = framing.take(&mut self.unread) {}
    }

    /// Marks the response as failed: nothing more is read, and no request can follow.
    fn fail_response<T>(
        &mut self,
        error: &(dyn std::error::Error + 'static),
    ) -> Poll<Result<T, OutboundError>> {
        self.answer = None;
        Poll::Ready(Err(OutboundError::of_reading(error)))
    }
}

fn to_send_error(error: &(dyn std::error::Error + 'static)) -> SendError {
    SendError::Broken(OutboundError::of_sending(error))
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests;
