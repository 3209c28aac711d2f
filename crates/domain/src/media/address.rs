//! Addresses of pictures, videos and files: judged as all addresses of callers are.

use url::Url;

use super::MediaFault;
use crate::web_address::{AddressFault, Reach, WebAddress};

/// An address as it is given to the engine that fetches it: written from what was parsed here, so
/// that the engine cannot parse it differently.
pub(super) fn check(text: &str) -> Result<WebAddress, MediaFault> {
    WebAddress::parse(text, Reach::Public).map_err(|fault| {
        MediaFault(match fault {
            AddressFault::TooLong => "Its URL must have at most 8192 characters.",
            AddressFault::Signs => {
                "Its URL must not have spaces, control characters or backslashes."
            }
            AddressFault::NotWeb => "Send a data URL in base64, or an https or http URL.",
            AddressFault::Credentials => "Its URL must not carry a user name or a password.",
            AddressFault::Port => "Its URL must use port 80 or 443.",
            AddressFault::Private => "Its URL must name a public host; send a data URL instead.",
        })
    })
}

/// The host of a web address, in lower case: a name, or a number in its usual notation.
pub(super) fn host(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}
