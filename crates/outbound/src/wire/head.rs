//! Parses the head of a response: its status and headers, the body's framing, and connection reuse.

use std::mem::MaybeUninit;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use httparse::{ParserConfig, Response, Status};

use super::chunks::Chunks;
use super::framing::{Framing, pass_over};
use super::malformed::Malformed;

/// More than any server sends, and small enough to keep in memory.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
pub(crate) const HEADERS_MAX: usize = 100;

const TOO_LONG: Malformed = Malformed("a head that is too long");
const BAD_HEADER: Malformed = Malformed("an invalid header");

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

pub(crate) enum Parsed {
    Begun,
    /// An informational response, such as 100 or 103, which is ignored.
    Interim,
    Whole {
        head: Head,
        framing: Framing,
        /// The connection ends with this response.
        is_last: bool,
    },
}

/// Parses a head, if it has arrived completely.
pub(crate) fn parse(unread: &mut Bytes) -> Result<Parsed, Malformed> {
    let mut room = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let bytes = unread.clone();
    let config = ParserConfig::default();
    let parsed = config.parse_response_with_uninit_headers(&mut response, &bytes, &mut room);
    let length = match parsed.map_err(malformed)? {
        Status::Partial if HEAD_BYTES_MAX <= bytes.len() => return Err(TOO_LONG),
        Status::Partial => return Ok(Parsed::Begun),
        Status::Complete(length) if HEAD_BYTES_MAX < length => return Err(TOO_LONG),
        Status::Complete(length) => length,
    };
    pass_over(unread, length);
    let code = response.code.unwrap_or_default();
    let status = StatusCode::from_u16(code).map_err(|_| Malformed("an invalid status"))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Malformed("another protocol, which nobody asked for"));
    }
    if status.is_informational() {
        return Ok(Parsed::Interim);
    }
    let mut seen = SeenHeaders { is_old: response.version == Some(0), ..SeenHeaders::default() };
    let mut headers = HeaderMap::with_capacity(response.headers.len());
    for header in response.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| BAD_HEADER)?;
        let value = bytes.slice_ref(header.value);
        let value = HeaderValue::from_maybe_shared(value).map_err(|_| BAD_HEADER)?;
        seen.hear(&name, &value);
        headers.append(name, value);
    }
    let framing = seen.framing(status)?;
    let is_last = seen.is_last() || framing == Framing::ToClose;
    Ok(Parsed::Whole { head: Head { status, headers }, framing, is_last })
}

fn malformed(error: httparse::Error) -> Malformed {
    match error {
        httparse::Error::TooManyHeaders => Malformed("too many headers"),
        httparse::Error::Version => Malformed("an invalid HTTP version"),
        httparse::Error::Status => Malformed("an invalid status"),
        _ => BAD_HEADER,
    }
}

/// The headers about the body and the connection.
#[derive(Default)]
struct SeenHeaders {
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

impl SeenHeaders {
    fn hear(&mut self, name: &HeaderName, value: &HeaderValue) {
        if name == CONNECTION {
            self.is_close |= words(value).any(|word| word.eq_ignore_ascii_case("close"));
            self.is_keep_alive |= words(value).any(|word| word.eq_ignore_ascii_case("keep-alive"));
        } else if name == TRANSFER_ENCODING {
            self.is_encoded = true;
            let last = words(value).next_back();
            self.is_chunked = last.is_some_and(|word| word.eq_ignore_ascii_case("chunked"));
        } else if name == CONTENT_LENGTH {
            self.hear_length(value);
        }
    }

    fn hear_length(&mut self, value: &HeaderValue) {
        self.is_length_bad |= value.to_str().is_err();
        for word in words(value) {
            let length = number(word);
            let is_other = self.length.is_some() && self.length != length;
            self.is_length_bad |= length.is_none() || is_other;
            self.length = length;
        }
    }

    fn framing(&self, status: StatusCode) -> Result<Framing, Malformed> {
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return Ok(Framing::NOTHING);
        }
        if self.is_encoded && self.is_old {
            return Err(Malformed("a transfer encoding in HTTP/1.0"));
        }
        if self.is_encoded {
            let chunks = Framing::Chunked(Chunks::new());
            return Ok(if self.is_chunked { chunks } else { Framing::ToClose });
        }
        if self.is_length_bad {
            return Err(Malformed("an invalid content length"));
        }
        Ok(self.length.map_or(Framing::ToClose, |left| Framing::Counted { left }))
    }

    fn is_last(&self) -> bool {
        // With both, an intermediary may find another end of the response (smuggling).
        let is_ambiguous = self.is_encoded && (self.length.is_some() || self.is_length_bad);
        let is_kept = if self.is_old { self.is_keep_alive } else { true };
        self.is_close || !is_kept || is_ambiguous
    }
}

/// The words between commas; none if the value is not text.
fn words(value: &HeaderValue) -> impl DoubleEndedIterator<Item = &str> {
    value.to_str().into_iter().flat_map(|text| text.split(',')).map(str::trim)
}

/// Only digits: parsing alone would accept a plus sign.
fn number(word: &str) -> Option<u64> {
    let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_digits)
}
