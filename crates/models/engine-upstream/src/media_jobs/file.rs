//! Generated files as providers send them.

use base64::Engine as _;
use bytes::Bytes;
use engine::{EngineError, MediaFile};
use futures_util::stream::{self, StreamExt};
use outbound::UpstreamResponse;
use tokio::time::timeout;

use crate::transport::{UpstreamTimeouts, bad_answer, connection_error};

/// Streams the body of a response.
pub(super) fn file_from_answer(answer: UpstreamResponse, timeouts: UpstreamTimeouts) -> MediaFile {
    let pieces = answer.into_pieces();
    let next = move |mut pieces: outbound::BodyPieces| async move {
        match timeout(timeouts.next_event, pieces.next()).await {
            Ok(Ok(Some(piece))) => Some((Ok(piece), pieces)),
            Ok(Ok(None)) => None,
            Ok(Err(fault)) => Some((Err(connection_error(fault)), pieces)),
            Err(_) => Some((Err(bad_answer("its file stopped in the middle")), pieces)),
        }
    };
    let mut has_failed = false;
    // Nothing follows an error.
    let bytes = stream::unfold(pieces, next).take_while(move |piece| {
        let goes_on = !has_failed;
        has_failed = piece.is_err();
        std::future::ready(goes_on)
    });
    MediaFile { bytes: bytes.boxed() }
}

/// Decodes a file from base64 within JSON.
pub(super) fn file_from_base64(text: &str) -> Result<MediaFile, EngineError> {
    let bytes = base64::prelude::BASE64_STANDARD.decode(text);
    let bytes = bytes.map_err(|_| bad_answer("its file is not base64"))?;
    let whole = stream::iter([Ok(Bytes::from(bytes))]);
    Ok(MediaFile { bytes: whole.boxed() })
}

/// Returns the media type and the data of a data URL.
pub(super) fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.split(';').next().unwrap_or_default(), data))
}
