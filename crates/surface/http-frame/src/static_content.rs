//! Content that is the same for every caller: kept in memory once, plain and compressed.

use std::io::Write;
use std::sync::OnceLock;

use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter content is not compressed.
const COMPRESSED_BYTES_MIN: usize = 1024;

/// Marks a response that must not be compressed again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlreadyCompressed;

/// A text or file whose bytes all responses share.
#[derive(Debug)]
pub struct StaticContent {
    content_type: &'static str,
    plain: Bytes,
    /// Created for the first client that accepts it; None inside if it would be no shorter.
    gzip: OnceLock<Option<Bytes>>,
}

impl StaticContent {
    pub fn new(content_type: &'static str, plain: impl Into<Bytes>) -> StaticContent {
        StaticContent { content_type, plain: plain.into(), gzip: OnceLock::new() }
    }

    /// The response to a request with these headers.
    pub fn respond(&self, request: &HeaderMap) -> Response {
        let gzip = if accepts_gzip(request) { self.gzip() } else { None };
        let mut response = Response::new(gzip.unwrap_or(&self.plain).clone().into());
        response.extensions_mut().insert(AlreadyCompressed);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if gzip.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        // Without Accept-Encoding and Origin, the transport layer adds this header.
        if request.contains_key(ACCEPT_ENCODING) {
            headers.append(VARY, HeaderValue::from_static("accept-encoding"));
        }
        response
    }

    fn gzip(&self) -> Option<&Bytes> {
        let compressed = self.gzip.get_or_init(|| {
            let is_text = !matches!(self.content_type, "font/woff2" | "application/octet-stream");
            if !is_text || self.plain.len() < COMPRESSED_BYTES_MIN {
                return None;
            }
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&self.plain).ok()?;
            let compressed = encoder.finish().ok()?;
            (compressed.len() < self.plain.len()).then(|| compressed.into())
        });
        compressed.as_ref()
    }
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let is_gzip = name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip");
        let quality = parts.find_map(|part| part.strip_prefix("q="));
        let is_refused = quality.is_some_and(|it| it.parse::<f32>().is_ok_and(|it| it <= 0.0));
        is_gzip && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;

    use super::*;

    fn asking(accepted: Option<&'static str>) -> HeaderMap {
        let accepted = accepted.map(|it| (ACCEPT_ENCODING, HeaderValue::from_static(it)));
        accepted.into_iter().collect()
    }

    async fn body(content: &StaticContent, accepted: &'static str) -> Bytes {
        let response = content.respond(&asking(Some(accepted)));
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn every_reader_gets_the_same_bytes_of_memory() {
        let text = "All work and no play. ".repeat(1_000);
        let content = StaticContent::new("text/plain", text.clone());
        let (first, second) = (body(&content, "br").await, body(&content, "identity").await);
        assert_eq!(first.as_ptr(), second.as_ptr());
        assert_eq!(first, text.as_bytes());
        let (first, second) = (body(&content, "gzip").await, body(&content, "br, gzip").await);
        assert_eq!(first.as_ptr(), second.as_ptr());
        assert!(first.len() * 10 < text.len());
        let mut plain = String::new();
        GzDecoder::new(&*first).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, text);
    }

    #[test]
    fn a_response_is_compressed_for_those_who_accept_it() {
        let content = StaticContent::new("text/plain", "x".repeat(5_000));
        for (accepted, is_compressed) in [
            (None, false),
            (Some("br"), false),
            (Some("gzip"), true),
            (Some("br, GZIP;q=0.5"), true),
            (Some("gzip;q=0"), false),
        ] {
            let response = content.respond(&asking(accepted));
            let headers = response.headers();
            assert_eq!(headers.contains_key(CONTENT_ENCODING), is_compressed, "{accepted:?}");
            assert!(response.extensions().get::<AlreadyCompressed>().is_some());
        }
        let short = StaticContent::new("text/plain", "short");
        let response = short.respond(&asking(Some("gzip")));
        assert!(!response.headers().contains_key(CONTENT_ENCODING));
    }
}
