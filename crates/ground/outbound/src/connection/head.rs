//! Parses the head of a response: its status and headers, the body's framing, and connection reuse.

use std::mem::MaybeUninit;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use httparse::{ParserConfig, Response, Status};

use super::chunks::ChunkedDecoder;
use super::framing::{BodyFraming, pass_over};
use super::malformed::MalformedResponse;

/// More than any server sends, and small enough to keep in memory.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
pub(crate) const HEADERS_MAX: usize = 100;

const TOO_LONG: MalformedResponse = MalformedResponse("a head that is too long");
const BAD_HEADER: MalformedResponse = MalformedResponse("an invalid header");

#[derive(Debug)]
pub(crate) struct UpstreamHead {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

pub(crate) enum ParsedHead {
    Begun,
    /// An informational response, such as 100 or 103, which is ignored.
    Interim,
    Whole {
        head: UpstreamHead,
        framing: BodyFraming,
        /// The connection ends with this response.
        is_last: bool,
    },
}

/// Parses a head, if it has arrived completely.
pub(crate) fn parse_head(unread: &mut Bytes) -> Result<ParsedHead, MalformedResponse> {
    let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let bytes = unread.clone();
    let config = ParserConfig::default();
    let parsed = config.parse_response_with_uninit_headers(&mut response, &bytes, &mut room);
    let length = match parsed.map_err(to_malformed_response)? {
        Status::Partial if HEAD_BYTES_MAX <= bytes.len() => return Err(TOO_LONG),
        Status::Partial => return Ok(ParsedHead::Begun),
        Status::Complete(length) if HEAD_BYTES_MAX < length => return Err(TOO_LONG),
        Status::Complete(length) => length,
    };
    pass_over(unread, length);
    let code = response.code.unwrap_or_default();
    let status = StatusCode::from_u16(code).map_err(|_| MalformedResponse("an invalid status"))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(MalformedResponse("another protocol, which nobody asked for"));
    }
    if status.is_informational() {
        return Ok(ParsedHead::Interim);
    }
    let mut seen =
        FramingHeaders { is_old: response.version == Some(0), ..FramingHeaders::default() };
    let mut headers = HeaderMap::with_capacity(response.headers.len());
    for header in response.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| BAD_HEADER)?;
        let value = bytes.slice_ref(header.value);
        let value = HeaderValue::from_maybe_shared(value).map_err(|_| BAD_HEADER)?;
        seen.read_header(&name, &value);
        headers.append(name, value);
    }
    let framing = seen.body_framing(status)?;
    let is_last = seen.is_last() || framing == BodyFraming::ToClose;
    Ok(ParsedHead::Whole { head: UpstreamHead { status, headers }, framing, is_last })
}

fn to_malformed_response(error: httparse::Error) -> MalformedResponse {
    match error {
        httparse::Error::TooManyHeaders => MalformedResponse("too many headers"),
        httparse::Error::Version => MalformedResponse("an invalid HTTP version"),
        httparse::Error::Status => MalformedResponse("an invalid status"),
        _ => BAD_HEADER,
    }
}

/// The headers about the body and the connection.
#[derive(Default)]
struct FramingHeaders {
    /// HTTP/1.0.
    is_old: bool,
    is_close: bool,
    is_keep_alive: bool,
    is_encoded: bool,
    /// Set if the last encoding is `chunked`.
    is_chunked: bool,
    length: Option<u64>,
    is_length_bad: bool,
}

impl FramingHeaders {
    fn read_header(&mut self, name: &HeaderName, value: &HeaderValue) {
        if name == CONNECTION {
            self.is_close |= split_words(value).any(|word| word.eq_ignore_ascii_case("close"));
            self.is_keep_alive |=
                split_words(value).any(|word| word.eq_ignore_ascii_case("keep-alive"));
        } else if name == TRANSFER_ENCODING {
            self.is_encoded = true;
            let last = split_words(value).next_back();
            self.is_chunked = last.is_some_and(|word| word.eq_ignore_ascii_case("chunked"));
        } else if name == CONTENT_LENGTH {
            self.read_length(value);
        }
    }

    fn read_length(&mut self, value: &HeaderValue) {
        self.is_length_bad |= value.to_str().is_err();
        for word in split_words(value) {
            let length = parse_digits(word);
            let is_other = self.length.is_some() && self.length != length;
            self.is_length_bad |= length.is_none() || is_other;
            self.length = length;
        }
    }

    fn body_framing(&self, status: StatusCode) -> Result<BodyFraming, MalformedResponse> {
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return Ok(BodyFraming::NOTHING);
        }
        if self.is_encoded && self.is_old {
            return Err(MalformedResponse("a transfer encoding in HTTP/1.0"));
        }
        if self.is_encoded {
            let chunks = BodyFraming::Chunked(ChunkedDecoder::new());
            return Ok(if self.is_chunked { chunks } else { BodyFraming::ToClose });
        }
        if self.is_length_bad {
            return Err(MalformedResponse("an invalid content length"));
        }
        Ok(self.length.map_or(BodyFraming::ToClose, |left| BodyFraming::Counted { left }))
    }

    fn is_last(&self) -> bool {
        // With both, an intermediary may find another end of the response (smuggling).
        let is_ambiguous = self.is_encoded && (self.length.is_some() || self.is_length_bad);
        let is_kept = if self.is_old { self.is_keep_alive } else { true };
        self.is_close || !is_kept || is_ambiguous
    }
}

/// The words between commas; none if the value is not text.
fn split_words(value: &HeaderValue) -> impl DoubleEndedIterator<Item = &str> {
    value.to_str().into_iter().flat_map(|text| text.split(',')).map(str::trim)
}

/// Only digits: parsing alone would accept a plus sign.
fn parse_digits(word: &str) -> Option<u64> {
    let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_digits)
}
