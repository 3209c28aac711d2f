//! The page that a person returns to after a payment: on our own origin.

use std::fmt;

use thiserror::Error;
use url::Url;

const URL_BYTES_MAX: usize = 2048;

/// An address on our own origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnUrl(Url);

/// The reason why an address is refused, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ReturnUrlFault {
    #[error("It must be a URL of at most 2048 characters.")]
    Form,
    #[error("It must be a page of this service.")]
    OtherOrigin,
}

impl ReturnUrl {
    /// Parses an address; `public_url` is the service's own.
    pub fn parse(public_url: &str, text: &str) -> Result<ReturnUrl, ReturnUrlFault> {
        let is_plain = text.len() <= URL_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let url = Url::parse(text).ok().filter(|_| is_plain).ok_or(ReturnUrlFault::Form)?;
        let own = Url::parse(public_url).map_err(|_| ReturnUrlFault::OtherOrigin)?;
        let is_own = own.origin().is_tuple()
            && url.origin() == own.origin()
            && url.username().is_empty()
            && url.password().is_none();
        if is_own { Ok(ReturnUrl(url)) } else { Err(ReturnUrlFault::OtherOrigin) }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for ReturnUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
