//! Addresses that anybody could reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::MediaFault;

/// Longer than any address that works everywhere.
const ADDRESS_BYTES_MAX: usize = 8192;
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

pub(super) fn check(text: &str) -> Result<(), MediaFault> {
    if ADDRESS_BYTES_MAX < text.len() {
        return Err(MediaFault("Its URL must have at most 8192 characters."));
    }
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    let Some(url) = Url::parse(text).ok().filter(is_web) else {
        return Err(MediaFault("Send a data URL in base64, or an https or http URL."));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(MediaFault("Its URL must not carry a user name or a password."));
    }
    if !url.port_or_known_default().is_some_and(|port| PORTS.contains(&port)) {
        return Err(MediaFault("Its URL must use port 80 or 443."));
    }
    let is_public = match url.host() {
        Some(Host::Domain(name)) => is_public_name(name),
        Some(Host::Ipv4(address)) => is_public_v4(address),
        Some(Host::Ipv6(address)) => is_public_v6(address),
        None => false,
    };
    if is_public {
        Ok(())
    } else {
        Err(MediaFault("Its URL must name a public host; send a data URL instead."))
    }
}

/// The host of a web address, in lower case: a name, or a number in its usual notation.
pub(super) fn host(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}

/// Whether a number stands for something that anybody could reach.
pub(super) fn is_public(address: IpAddr) -> bool {
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
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        // This network, loopback, and everything from multicast on.
        (0 | 127 | 224.., _, _) => false,
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => false,
        // Shared between providers, and link-local, where clouds serve their metadata.
        (100, 64..=127, _) | (169, 254, _) => false,
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
