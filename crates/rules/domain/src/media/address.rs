//! URLs of images, videos and files, checked like all URLs of callers.

use url::Url;

use super::MediaFault;
use crate::web_address::{AddressFault, AddressScope, WebAddress};

/// Parses and checks a URL. The engine receives the parsed form, so that it cannot parse the
/// caller's text differently.
pub(super) fn check_url(text: &str) -> Result<WebAddress, MediaFault> {
    WebAddress::parse(text, AddressScope::Public).map_err(|fault| {
        MediaFault(match fault {
            AddressFault::TooLong => "Its URL must have at most 8192 characters.",
            AddressFault::Signs => {
                "Its URL must not have spaces, control characters or backslashes."
            }
            AddressFault::NotWeb => "Send a data URL in base64, or an https or http URL.",
            AddressFault::Credentials => "Its URL must not contain a user name or a password.",
            AddressFault::Port => "Its URL must use port 80 or 443.",
            AddressFault::Private => "Its URL must name a public host; send a data URL instead.",
        })
    })
}

/// The host of a URL, in lower case: a name or an IP address.
pub(super) fn parse_host(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}
