//! What came back: a status, headers, and a body that is read as it comes.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::fault::Fault;

pub struct Answer(Response<Incoming>);

/// Why a body was not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    TooLong,
    Broken(Fault),
}

impl Answer {
    pub(crate) fn new(response: Response<Incoming>) -> Answer {
        Answer(response)
    }

    pub fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// The next piece of the body, or `None` at its end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Fault> {
        while let Some(frame) = self.0.body_mut().frame().await {
            let frame = frame.map_err(|error| Fault::of_body(&error))?;
            // What is no data is a trailer, which nobody asked for.
            if let Ok(piece) = frame.into_data() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// The whole body. Most come in one piece, which is handed out as it is.
    pub async fn whole(mut self, bytes_max: usize) -> Result<Bytes, Unread> {
        let Some(first) = self.piece_of(bytes_max).await? else { return Ok(Bytes::new()) };
        if self.0.body().is_end_stream() {
            return Ok(first);
        }
        let Some(second) = self.piece_of(bytes_max - first.len()).await? else { return Ok(first) };
        let told = usize::try_from(self.0.body().size_hint().lower()).unwrap_or(bytes_max);
        let so_far = first.len() + second.len();
        let mut body = BytesMut::with_capacity(so_far + told.min(bytes_max - so_far));
        body.extend_from_slice(&first);
        body.extend_from_slice(&second);
        while let Some(piece) = self.piece_of(bytes_max - body.len()).await? {
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }

    async fn piece_of(&mut self, bytes_max: usize) -> Result<Option<Bytes>, Unread> {
        let piece = self.piece().await.map_err(Unread::Broken)?;
        if piece.as_ref().is_some_and(|piece| bytes_max < piece.len()) {
            return Err(Unread::TooLong);
        }
        Ok(piece)
    }
}
