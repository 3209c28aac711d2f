//! A body stream that enforces a minimum speed, the shared memory limit and a maximum number of
//! JSON values.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::input::body_digest::BodyDigest;
use crate::input::body_memory::BodyReservation;
use crate::input::json_values::JsonValueCounter;

/// JSON values per body: parsed, each takes a hundred bytes or more, however short its text. Above
/// the largest number of tokens that one embeddings request may have.
const VALUES_MAX: usize = 500_000;
/// Memory of a parsed value: slightly above what was measured for numbers, strings, small objects.
const VALUE_BYTES: usize = 128;

/// The minimum speed of a body.
#[derive(Debug, Clone, Copy)]
pub struct BodyPace {
    /// Time allowed in addition to that of the minimum rate.
    pub start: Duration,
    pub(crate) bytes_per_s_min: u32,
    /// Upper bound on the whole time.
    pub(crate) total_max: Duration,
}

impl BodyPace {
    /// For bodies that are not kept in memory: at one megabit per second, 100 MB take 14 minutes.
    pub(crate) const STREAMED: BodyPace = BodyPace {
        start: Duration::from_secs(20),
        bytes_per_s_min: 32 * 1024,
        total_max: Duration::from_secs(60 * 60),
    };

    /// Time that the body may have taken by the moment `bytes` have arrived.
    pub(crate) fn time_for(self, bytes: usize) -> Duration {
        let seconds = bytes as f64 / f64::from(self.bytes_per_s_min.max(1));
        (self.start + Duration::from_secs_f64(seconds)).min(self.total_max)
    }
}

/// The reason why reading a body was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooSlow,
    TooManyValues,
    /// The memory for all bodies, or the caller's share of it, is used up.
    NoRoom,
    /// The connection failed.
    Broken,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BodyError::TooSlow => "the body came too slowly",
            BodyError::TooManyValues => "the body has too many values",
            BodyError::NoRoom => "the memory for request bodies is in use",
            BodyError::Broken => "the body was cut short",
        })
    }
}

impl std::error::Error for BodyError {}

/// A body that is checked while it arrives. Its faults are recorded in the room.
pub(crate) struct MeteredBody {
    inner: Body,
    room: Arc<BodyReservation>,
    pace: BodyPace,
    /// None for forms, whose bytes are not JSON.
    values: Option<JsonValueCounter>,
    bytes: usize,
    digest: BodyDigest,
    /// False for a body that the handler does not keep.
    is_kept: bool,
    /// Time of the first pending read. Most bodies are complete at once and need no clock.
    started: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl MeteredBody {
    pub(crate) fn new(
        inner: Body,
        headers: &HeaderMap,
        room: Arc<BodyReservation>,
        pace: BodyPace,
    ) -> MeteredBody {
        let is_form =
            headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"multipart/"));
        let values = (!is_form).then(JsonValueCounter::default);
        let digest = BodyDigest::default();
        MeteredBody {
            inner,
            room,
            pace,
            values,
            bytes: 0,
            digest,
            is_kept: true,
            started: None,
            timer: None,
        }
    }

    pub(crate) fn without_memory(self) -> MeteredBody {
        MeteredBody { is_kept: false, ..self }
    }

    fn reserve_memory(&mut self, data: &[u8]) -> Result<(), BodyError> {
        self.bytes += data.len();
        self.digest.update(data);
        self.room.set_digest(self.digest.value());
        let mut weight = if self.is_kept { self.bytes } else { 0 };
        if let Some(values) = &mut self.values {
            values.scan(data);
            if VALUES_MAX < values.count() {
                return Err(BodyError::TooManyValues);
            }
            weight += values.count() * VALUE_BYTES;
        }
        if self.room.grow_to(self.bytes, weight) { Ok(()) } else { Err(BodyError::NoRoom) }
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let started = *self.started.get_or_insert_with(Instant::now);
        let deadline = started + self.pace.time_for(self.bytes);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(context).is_ready()
    }

    fn fail(&self, fault: BodyError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.room.record_fault(fault);
        Poll::Ready(Some(Err(fault)))
    }
}

impl http_body::Body for MeteredBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.inner).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let weighed = frame.data_ref().map_or(Ok(()), |data| this.reserve_memory(data));
                match weighed {
                    Ok(()) => Poll::Ready(Some(Ok(frame))),
                    Err(fault) => this.fail(fault),
                }
            }
            Poll::Ready(Some(Err(_))) => Poll::Ready(Some(Err(BodyError::Broken))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending if this.is_late(context) => this.fail(BodyError::TooSlow),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_a_body_is_the_longer_it_may_take_up_to_a_bound() {
        let pace = BodyPace {
            start: Duration::from_secs(20),
            bytes_per_s_min: 1000,
            total_max: Duration::from_secs(60),
        };
        assert_eq!(pace.time_for(0), Duration::from_secs(20));
        assert_eq!(pace.time_for(5_000), Duration::from_secs(25));
        assert_eq!(pace.time_for(1_000_000), Duration::from_secs(60));
    }
}
