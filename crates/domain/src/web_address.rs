//! Addresses of the web that a caller names and somebody here follows: parsed once, judged once.
//!
//! One list says which numbers are public. Engines that fetch for callers are held to it, and so is
//! whatever we fetch ourselves.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Longer than any address that works everywhere.
pub const ADDRESS_BYTES_MAX: usize = 8192;
/// Where the web is served. Other ports are other services.
const PORTS: [u16; 2] = [80, 443];
/// Names that only mean something inside a network, by their last labels.
const PRIVATE_SUFFIXES: [&str; 12] = [
    "localhost",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "localdomain",
    "test",
    "invalid",
];

/// How far an address may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To what anybody could reach, where the web is served.
    Public,
    /// Anywhere, on any port. Only for tests.
    Anywhere,
}

/// An http or https address without credentials, in the one form in which it is judged and followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebAddress(Url);

/// Why an address is not followed, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("Its URL must have at most 8192 characters.")]
    TooLong,
    #[error("Its URL must not have spaces, control characters or backslashes.")]
    Signs,
    #[error("It must be an http or https URL.")]
    NotWeb,
    #[error("Its URL must not carry a user name or a password.")]
    Credentials,
    #[error("Its URL must use port 80 or 443.")]
    Port,
    #[error("Its URL must name a public host.")]
    Private,
}

impl WebAddress {
    pub fn parse(text: &str, reach: Reach) -> Result<WebAddress, AddressFault> {
        if ADDRESS_BYTES_MAX < text.len() {
            return Err(AddressFault::TooLong);
        }
        // Parsers drop or turn some of these, each in its own way.
        if text.chars().any(|it| it == '\\' || it.is_control() || it.is_whitespace()) {
            return Err(AddressFault::Signs);
        }
        WebAddress::judge(Url::parse(text).map_err(|_| AddressFault::NotWeb)?, reach)
    }

    /// Where a redirect or a link of this page leads.
    pub fn join(&self, link: &str, reach: Reach) -> Result<WebAddress, AddressFault> {
        if ADDRESS_BYTES_MAX < link.len() {
            return Err(AddressFault::TooLong);
        }
        WebAddress::judge(self.0.join(link).map_err(|_| AddressFault::NotWeb)?, reach)
    }

    fn judge(mut url: Url, reach: Reach) -> Result<WebAddress, AddressFault> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressFault::NotWeb);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressFault::Credentials);
        }
        let port = url.port_or_known_default();
        if reach == Reach::Public && !port.is_some_and(|port| PORTS.contains(&port)) {
            return Err(AddressFault::Port);
        }
        let is_public = match url.host() {
            Some(Host::Domain(name)) => is_public_name(name),
            Some(Host::Ipv4(address)) => is_public_v4(address),
            Some(Host::Ipv6(address)) => is_public_v6(address),
            None => return Err(AddressFault::NotWeb),
        };
        if reach == Reach::Public && !is_public {
            return Err(AddressFault::Private);
        }
        url.set_fragment(None);
        Ok(WebAddress(url))
    }

    pub fn url(&self) -> &Url {
        &self.0
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The number, where the address names one instead of a host.
    pub fn number(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// The host in lower case, without the dot that may end it.
    pub fn host(&self) -> &str {
        let host = self.0.host_str().unwrap_or_default();
        host.strip_suffix('.').unwrap_or(host)
    }

    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    /// What follows the host: the path and the query.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a number stands for something that anybody could reach.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// A name without a dot is looked up in the network's own domain first.
fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_private = |suffix: &&str| {
        name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    name.contains('.') && !PRIVATE_SUFFIXES.iter().any(is_private)
}

/// The blocks that are not for the public network, from IANA's registry of special addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    match (a, b, c) {
        // This network, loopback, and everything from multicast on.
        (0 | 127 | 224.., _, _) => false,
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => false,
        // Shared between providers, and link-local, where clouds serve their metadata.
        (100, 64..=127, _) | (169, 254, _) => false,
        // A cloud's own services for its machines, in a public block.
        (168, 63, 129) if d == 16 => false,
        // Protocols, the old relay, documentation and benchmarks.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
            false
        }
        _ => true,
    }
}

/// Only one block is routed; in it are documentation, and two that wrap an IPv4 address. A third,
/// beside it, stands for IPv4 addresses in networks that have none themselves.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() {
        return is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    let is_routed = (0x2000..0x4000).contains(&first);
    let is_protocol = first == 0x2001 && second < 0x200;
    let is_documentation =
        (first == 0x2001 && second == 0xdb8) || (first == 0x3fff && second < 0x1000);
    let is_wrapped = first == 0x2002;
    is_routed && !is_protocol && !is_documentation && !is_wrapped
}

#[cfg(test)]
mod tests {
    //! How an address is written is checked by the tests of `media`; here is what following adds.

    use super::*;

    fn public(text: &str) -> Result<WebAddress, AddressFault> {
        WebAddress::parse(text, Reach::Public)
    }

    #[test]
    fn links_are_judged_where_they_lead() {
        let page = public("https://example.com/a/b?c#d").unwrap();
        assert_eq!(page.as_str(), "https://example.com/a/b?c");
        assert_eq!(page.join("../e", Reach::Public).unwrap().as_str(), "https://example.com/e");
        for (link, fault) in [
            ("//127.0.0.1/", AddressFault::Private),
            ("http://[::ffff:10.0.0.1]/", AddressFault::Private),
            ("http://example.com:22/", AddressFault::Port),
            ("file:///etc/passwd", AddressFault::NotWeb),
            ("javascript:alert(1)", AddressFault::NotWeb),
            ("http://a:b@example.com/", AddressFault::Credentials),
        ] {
            assert_eq!(page.join(link, Reach::Public), Err(fault), "{link}");
        }
    }

    #[test]
    fn tests_may_lead_anywhere_but_not_by_other_schemes() {
        let local = WebAddress::parse("http://127.0.0.1:8123/x", Reach::Anywhere).unwrap();
        assert_eq!((local.port(), local.number()), (8123, "127.0.0.1".parse().ok()));
        assert!(WebAddress::parse("ftp://127.0.0.1/", Reach::Anywhere).is_err());
    }

    #[test]
    fn hosts_lose_their_last_dot_and_keep_their_port_apart() {
        let page = public("http://EXAMPLE.com./x?y=1").unwrap();
        assert_eq!((page.host(), page.port()), ("example.com", 80));
        assert_eq!(page.path_and_query(), "/x?y=1");
    }
}
