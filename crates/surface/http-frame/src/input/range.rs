//! The `Range` header.

use axum::body::Body;
use axum::http::header::RANGE;
use axum::http::request::Parts;
use schemars::SchemaGenerator;
use serde_json::json;

use crate::input::{BodyLimits, HandlerInput, InputRejection};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

/// The requested bytes of a file. Anything but one range of bytes is ignored, as HTTP requires.
#[derive(Debug)]
pub struct RangeHeader(Option<RequestedRange>);

/// A range as written in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedRange {
    From(u64),
    /// Both ends included.
    Between(u64, u64),
    Last(u64),
}

/// No byte of the requested range exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsatisfiableRange;

impl RangeHeader {
    /// The part of a file of this length; None for the whole file.
    pub fn resolve_range(
        &self,
        bytes: u64,
    ) -> Result<Option<std::ops::Range<u64>>, UnsatisfiableRange> {
        let range = match self.0 {
            None => return Ok(None),
            Some(RequestedRange::From(first)) => first..bytes,
            Some(RequestedRange::Between(first, last)) => first..last.saturating_add(1).min(bytes),
            Some(RequestedRange::Last(count)) => bytes.saturating_sub(count)..bytes,
        };
        if range.is_empty() { Err(UnsatisfiableRange) } else { Ok(Some(range)) }
    }
}

impl HandlerInput for RangeHeader {
    type Raw = Option<RequestedRange>;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<Self::Raw, Refusal> {
        let value = parts.headers.get(RANGE).and_then(|it| it.to_str().ok());
        Ok(value.and_then(parse_range))
    }

    fn check(raw: Self::Raw) -> Result<RangeHeader, InputRejection> {
        Ok(RangeHeader(raw))
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        let description = "One range of bytes, such as `bytes=0-1023`.";
        operation.header("Range", description, json!({ "type": "string" }));
    }
}

fn parse_range(value: &str) -> Option<RequestedRange> {
    let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (first.trim(), last.trim()) {
        ("", count) => number(count).map(RequestedRange::Last),
        (first, "") => number(first).map(RequestedRange::From),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(RequestedRange::Between(first, last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(value: &str, bytes: u64) -> Result<Option<std::ops::Range<u64>>, UnsatisfiableRange> {
        RangeHeader(parse_range(value)).resolve_range(bytes)
    }

    #[test]
    fn a_range_of_bytes_is_cut_to_the_file() {
        assert_eq!(within("bytes=0-9", 100), Ok(Some(0..10)));
        assert_eq!(within("bytes=90-", 100), Ok(Some(90..100)));
        assert_eq!(within("bytes=-5", 100), Ok(Some(95..100)));
        assert_eq!(within("bytes=-500", 100), Ok(Some(0..100)));
        assert_eq!(within("bytes=90-500", 100), Ok(Some(90..100)));
        assert_eq!(within("bytes=100-", 100), Err(UnsatisfiableRange));
        assert_eq!(within("bytes=-0", 100), Err(UnsatisfiableRange));
    }

    #[test]
    fn anything_else_means_the_whole_file() {
        for value in ["", "bytes", "bytes=", "bytes=a-b", "bytes=5-2", "lines=1-2", "bytes=0-1,3-4"]
        {
            assert_eq!(within(value, 100), Ok(None), "{value}");
        }
    }
}
