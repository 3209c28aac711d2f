//! Pictures, recordings, videos and documents in a request: what may be passed on to an engine.
//!
//! Engines fetch the addresses they are given, from inside the operator's network. So an address
//! may only name what anybody could reach, and what its name stands for must be public too. What is
//! sent inline is read as far as the rules need.

mod address;
mod inline;
mod picture;

use std::fmt;
use std::net::IpAddr;

pub use inline::{BYTES_MAX, Inline, decode};

use crate::web_address;

/// What a caller may put where a picture, a video or a document is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source<'a> {
    /// A public address.
    Address,
    Inline(Inline<'a>),
}

/// Why something may not be passed on, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaFault(pub(crate) &'static str);

impl fmt::Display for MediaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for MediaFault {}

/// A data URL in base64, or a public address.
pub fn source(text: &str) -> Result<Source<'_>, MediaFault> {
    match inline::scheme_stripped(text) {
        Some(rest) => Inline::parse(rest).map(Source::Inline),
        None => address::check(text).map(|_| Source::Address),
    }
}

/// Writes a public address in the form in which it was judged. What may not be passed on, and what
/// is sent inline, stays as it is.
pub fn normalise(text: &mut String) {
    if inline::scheme_stripped(text).is_none()
        && let Ok(url) = address::check(text)
    {
        *text = url.as_str().to_owned();
    }
}

/// The host of a web address, in lower case: a name, or a number in its usual notation.
pub fn host(text: &str) -> Option<String> {
    // Data URLs may have megabytes, and have no host.
    if inline::scheme_stripped(text).is_some() {
        return None;
    }
    address::host(text)
}

/// Whether a number stands for something that anybody could reach.
pub fn is_public(address: IpAddr) -> bool {
    web_address::is_public(address)
}

/// A picture: an address, or a PNG, JPEG, WebP, HEIF or AVIF of a size that models can see.
pub fn check_picture(text: &str) -> Result<(), MediaFault> {
    let Source::Inline(inline) = source(text)? else { return Ok(()) };
    if !inline.media_type.starts_with("image/") {
        return Err(MediaFault("Its media type must be that of an image, such as image/png."));
    }
    picture::check(&inline.bytes()?)
}

/// A video: an address, or an MP4, MPEG, MOV or WebM file.
pub fn check_video(text: &str) -> Result<(), MediaFault> {
    let Source::Inline(inline) = source(text)? else { return Ok(()) };
    if !VIDEO_TYPES.contains(&inline.media_type.as_str()) {
        return Err(MediaFault(
            "Its media type must be video/mp4, video/mpeg, video/quicktime or video/webm.",
        ));
    }
    inline.bytes().map(drop)
}

/// The types of the files that hold videos, under each of their names.
const VIDEO_TYPES: [&str; 6] =
    ["video/mp4", "video/mpeg", "video/mpg", "video/mov", "video/quicktime", "video/webm"];

#[cfg(test)]
mod tests;
