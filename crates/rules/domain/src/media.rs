//! Checks images, audio, videos and documents in a request before they reach an engine.
//!
//! Engines fetch the URLs that they receive, from inside the operator's network. So a URL must be
//! public, and so must the addresses that its name resolves to. Inline content is parsed only as
//! far as the rules need.

mod address;
mod header_reader;
mod inline;
mod picture;

use std::fmt;
use std::net::IpAddr;

pub use inline::{BYTES_MAX, InlineMedia, decode_base64};

use crate::web_address;

/// The forms of an image, video or document in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaSource<'a> {
    /// A public URL.
    Address,
    Inline(InlineMedia<'a>),
}

/// The reason why an input is refused, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaFault(pub(crate) &'static str);

impl fmt::Display for MediaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for MediaFault {}

/// Parses a base64 data URL or a public URL.
pub fn parse_source(text: &str) -> Result<MediaSource<'_>, MediaFault> {
    match inline::scheme_stripped(text) {
        Some(rest) => InlineMedia::parse(rest).map(MediaSource::Inline),
        None => address::check_url(text).map(|_| MediaSource::Address),
    }
}

/// Replaces a public URL by the parsed form that was checked. Refused URLs and inline content stay
/// unchanged.
pub fn normalise_url(text: &mut String) {
    if inline::scheme_stripped(text).is_none()
        && let Ok(url) = address::check_url(text)
    {
        *text = url.as_str().to_owned();
    }
}

/// The host of a URL, in lower case: a name or an IP address.
pub fn parse_host(text: &str) -> Option<String> {
    // Data URLs can be megabytes long and have no host.
    if inline::scheme_stripped(text).is_some() {
        return None;
    }
    address::parse_host(text)
}

/// True if the IP address is reachable from the public internet.
pub fn is_public(address: IpAddr) -> bool {
    web_address::is_public(address)
}

/// Checks an image: a URL, or inline PNG, JPEG, WebP, HEIF or AVIF within the size limits.
pub fn check_picture(text: &str) -> Result<(), MediaFault> {
    let MediaSource::Inline(inline) = parse_source(text)? else { return Ok(()) };
    if !inline.media_type.starts_with("image/") {
        return Err(MediaFault("Its media type must be that of an image, such as image/png."));
    }
    picture::check_image(&inline.decode_bytes()?)
}

/// Checks a video: a URL, or an inline MP4, MPEG, MOV or WebM file.
pub fn check_video(text: &str) -> Result<(), MediaFault> {
    let MediaSource::Inline(inline) = parse_source(text)? else { return Ok(()) };
    if !VIDEO_TYPES.contains(&inline.media_type.as_str()) {
        return Err(MediaFault(
            "Its media type must be video/mp4, video/mpeg, video/quicktime or video/webm.",
        ));
    }
    inline.decode_bytes().map(drop)
}

/// Media types of video files, with their synonyms.
const VIDEO_TYPES: [&str; 6] =
    ["video/mp4", "video/mpeg", "video/mpg", "video/mov", "video/quicktime", "video/webm"];

#[cfg(test)]
mod tests;
