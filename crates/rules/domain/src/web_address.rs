//! URLs from callers that this service or an engine fetches: parsed once and checked once.
//!
//! A single list defines which IP addresses are public. It applies to engines that fetch for
//! callers and to everything we fetch ourselves.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Maximum length of a URL; longer ones do not work everywhere.
pub const ADDRESS_BYTES_MAX: usize = 8192;
/// Ports of web servers. Other ports are other services.
const PORTS: [u16; 2] = [80, 443];
/// Suffixes of host names that are only valid inside a network.
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

/// The addresses that a URL may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressScope {
    /// Public addresses, on web ports.
    Public,
    /// Any address and port. Only for tests.
    Anywhere,
}

/// An http or https URL without credentials, in the normalized form in which it is checked and
/// fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebAddress(Url);

/// The reason why a URL is refused, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    #[error("Its URL must have at most 8192 characters.")]
    TooLong,
    #[error("Its URL must not have spaces, control characters or backslashes.")]
    Signs,
    #[error("It must be an http or https URL.")]
    NotWeb,
    #[error("Its URL must not contain a user name or a password.")]
    Credentials,
    #[error("Its URL must use port 80 or 443.")]
    Port,
    #[error("Its URL must name a public host.")]
    Private,
}

impl WebAddress {
    pub fn parse(text: &str, reach: AddressScope) -> Result<WebAddress, AddressFault> {
        if ADDRESS_BYTES_MAX < text.len() {
            return Err(AddressFault::TooLong);
        }
        // Parsers drop or convert some of these, each differently.
        if text.chars().any(|it| it == '\\' || it.is_control() || it.is_whitespace()) {
            return Err(AddressFault::Signs);
        }
        WebAddress::check_url(Url::parse(text).map_err(|_| AddressFault::NotWeb)?, reach)
    }

    /// Resolves a redirect or a link of this page.
    pub fn join(&self, link: &str, reach: AddressScope) -> Result<WebAddress, AddressFault> {
        if ADDRESS_BYTES_MAX < link.len() {
            return Err(AddressFault::TooLong);
        }
        WebAddress::check_url(self.0.join(link).map_err(|_| AddressFault::NotWeb)?, reach)
    }

    fn check_url(mut url: Url, reach: AddressScope) -> Result<WebAddress, AddressFault> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressFault::NotWeb);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressFault::Credentials);
        }
        let port = url.port_or_known_default();
        if reach == AddressScope::Public && !port.is_some_and(|port| PORTS.contains(&port)) {
            return Err(AddressFault::Port);
        }
        let is_public = match url.host() {
            Some(Host::Domain(name)) => is_public_name(name),
            Some(Host::Ipv4(address)) => is_public_v4(address),
            Some(Host::Ipv6(address)) => is_public_v6(address),
            None => return Err(AddressFault::NotWeb),
        };
        if reach == AddressScope::Public && !is_public {
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

    /// The IP address, if the host is one.
    pub fn ip_address(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// The host in lower case, without a trailing dot.
    pub fn host(&self) -> &str {
        let host = self.0.host_str().unwrap_or_default();
        host.strip_suffix('.').unwrap_or(host)
    }

    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    /// The path and the query.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

impl fmt::Display for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// True if the IP address is reachable from the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// False for names without a dot, too: resolvers try the network's own domain first.
fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_private = |suffix: &&str| {
        name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    name.contains('.') && !PRIVATE_SUFFIXES.iter().any(is_private)
}

/// False for the blocks in IANA's registry of special-purpose addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    match (a, b, c) {
        // This network, loopback, and everything from multicast on.
        (0 | 127 | 224.., _, _) => false,
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => false,
        // Carrier-grade NAT, and link-local, where clouds serve their metadata.
        (100, 64..=127, _) | (169, 254, _) => false,
        // Azure's service address for its machines, in a public block.
        (168, 63, 129) if d == 16 => false,
        // Protocol assignments, the 6to4 relay, documentation and benchmarks.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => {
            false
        }
        _ => true,
    }
}

/// Only one block is routed. It contains documentation addresses and two ranges that embed an IPv4
/// address. A third such range, outside it, is NAT64.
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
    //! The tests of `media` check the notation of URLs; these tests cover the rules for fetching.

    use super::*;

    fn public(text: &str) -> Result<WebAddress, AddressFault> {
        WebAddress::parse(text, AddressScope::Public)
    }

    #[test]
    fn links_are_judged_where_they_lead() {
        let page = public("https://example.com/a/b?c#d").unwrap();
        assert_eq!(page.as_str(), "https://example.com/a/b?c");
        assert_eq!(
            page.join("../e", AddressScope::Public).unwrap().as_str(),
            "https://example.com/e"
        );
        for (link, fault) in [
            ("//127.0.0.1/", AddressFault::Private),
            ("http://[::ffff:10.0.0.1]/", AddressFault::Private),
            ("http://example.com:22/", AddressFault::Port),
            ("file:///etc/passwd", AddressFault::NotWeb),
            ("javascript:alert(1)", AddressFault::NotWeb),
            ("http://a:b@example.com/", AddressFault::Credentials),
        ] {
            assert_eq!(page.join(link, AddressScope::Public), Err(fault), "{link}");
        }
    }

    #[test]
    fn tests_may_lead_anywhere_but_not_by_other_schemes() {
        let local = WebAddress::parse("http://127.0.0.1:8123/x", AddressScope::Anywhere).unwrap();
        assert_eq!((local.port(), local.ip_address()), (8123, "127.0.0.1".parse().ok()));
        assert!(WebAddress::parse("ftp://127.0.0.1/", AddressScope::Anywhere).is_err());
    }

    #[test]
    fn hosts_lose_their_last_dot_and_keep_their_port_apart() {
        let page = public("http://EXAMPLE.com./x?y=1").unwrap();
        assert_eq!((page.host(), page.port()), ("example.com", 80));
        assert_eq!(page.path_and_query(), "/x?y=1");
    }
}
