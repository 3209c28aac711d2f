//! Reads and decompresses a body within size limits.

use std::io::Read;

use bytes::{Bytes, BytesMut};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::fault::FetchFault;

/// The treatment of a body that is longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExcessPolicy {
    Refuse,
    /// Keeps the first bytes and reads no more.
    Cut,
}

/// Reads the body without decompressing it.
pub(crate) async fn read_body(
    mut body: Incoming,
    bytes_max: usize,
    excess: ExcessPolicy,
) -> Result<Bytes, FetchFault> {
    let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if bytes_max < told && excess == ExcessPolicy::Refuse {
        return Err(FetchFault::TooLarge(bytes_max));
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| FetchFault::Broken)?.into_data() else { continue };
        let room = bytes_max - whole.len();
        if room < piece.len() {
            if excess == ExcessPolicy::Refuse {
                return Err(FetchFault::TooLarge(bytes_max));
            }
            whole.extend_from_slice(&piece[..room]);
            break;
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// Decompresses a body within the limit: a short body could otherwise expand until memory is full.
pub(crate) async fn unpack_body(
    headers: &HeaderMap,
    packed: Bytes,
    bytes_max: usize,
    excess: ExcessPolicy,
) -> Result<Bytes, FetchFault> {
    let encoding = headers.get(CONTENT_ENCODING).map(|it| it.to_str().unwrap_or("?"));
    let encoding = encoding.unwrap_or("identity").trim().to_ascii_lowercase();
    let is_gzip = match encoding.as_str() {
        "" | "identity" => return Ok(packed),
        "gzip" | "x-gzip" => true,
        "deflate" => false,
        _ => return Err(FetchFault::Garbled),
    };
    let unpacking = tokio::task::spawn_blocking(move || {
        if is_gzip {
            decompress_within(MultiGzDecoder::new(packed.as_ref()), bytes_max, excess)
        } else {
            decompress_within(ZlibDecoder::new(packed.as_ref()), bytes_max, excess)
        }
    });
    unpacking.await.map_err(|_| FetchFault::Garbled)?
}

fn decompress_within(
    decoder: impl Read,
    bytes_max: usize,
    excess: ExcessPolicy,
) -> Result<Bytes, FetchFault> {
    let mut unpacked = Vec::new();
    let one_more = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let read = decoder.take(one_more).read_to_end(&mut unpacked);
    match (bytes_max < unpacked.len(), excess) {
        (true, ExcessPolicy::Refuse) => return Err(FetchFault::TooLarge(bytes_max)),
        (true, ExcessPolicy::Cut) => unpacked.truncate(bytes_max),
        // The end of a cut body is missing, and what is before it is valid.
        (false, ExcessPolicy::Cut) if read.is_err() && !unpacked.is_empty() => {}
        (false, _) => drop(read.map_err(|_| FetchFault::Garbled)?),
    }
    Ok(unpacked.into())
}
