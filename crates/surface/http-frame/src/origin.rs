//! The origin of a request: the peer, a trusted proxy's headers, or what another node forwarded.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName};
use domain::catalogue::CountryCode;

use crate::settings::ApiSettings;

/// The peer of the connection, added to each request by the server.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub SocketAddr);

/// The address and country of a caller. Only the first node sees the proxy before it, so both are
/// forwarded to the caller's home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerOrigin {
    /// The address that limits and failures are counted for.
    pub address: IpAddr,
    /// The country, if the operator's proxy names it.
    pub country: Option<CountryCode>,
}

impl CallerOrigin {
    /// The origin that another node forwarded, or what this node sees.
    pub fn from_parts(settings: &ApiSettings, parts: &Parts) -> CallerOrigin {
        if let Some(sent) = parts.extensions.get::<CallerOrigin>() {
            return *sent;
        }
        let (extensions, headers) = (&parts.extensions, &parts.headers);
        let is_trusted = settings.is_trusted_proxy.as_ref();
        let header = settings.country_header.as_ref();
        CallerOrigin {
            address: find_address(extensions, headers, is_trusted),
            country: header
                .and_then(|header| find_country(extensions, headers, is_trusted, header)),
        }
    }

    /// The text form in which nodes forward it.
    pub(crate) fn to_text(self) -> String {
        let CallerOrigin { address, country } = self;
        match country {
            Some(country) => format!("{address} {country}"),
            None => address.to_string(),
        }
    }

    pub fn parse(text: &str) -> Option<CallerOrigin> {
        let (address, country) = match text.split_once(' ') {
            Some((address, country)) => (address, Some(CountryCode::parse(country)?)),
            None => (text, None),
        };
        Some(CallerOrigin { address: address.parse().ok()?, country })
    }
}

/// The address that limits and failures are counted for.
///
/// A trusted proxy appends the address that it saw to `X-Forwarded-For`, so the last entry that is
/// not itself a trusted proxy is the caller; earlier entries can be forged.
fn find_address(
    extensions: &Extensions,
    headers: &HeaderMap,
    is_trusted: &dyn Fn(IpAddr) -> bool,
) -> IpAddr {
    let peer = find_peer(extensions);
    if !is_trusted(peer) {
        return mask_to_network(peer);
    }
    let forwarded: Vec<IpAddr> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(forwarded_address)
        .collect();
    let caller = forwarded.iter().rev().find(|address| !is_trusted(**address));
    mask_to_network(*caller.unwrap_or(&peer))
}

/// Parses one entry of the header. Some proxies add the port, and brackets around IPv6 addresses.
fn forwarded_address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim().trim_matches('"');
    let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    let address: Option<IpAddr> = bare.parse().ok();
    let address = address.or_else(|| Some(entry.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address| address.to_canonical())
}

/// The country in a trusted proxy's header.
fn find_country(
    extensions: &Extensions,
    headers: &HeaderMap,
    is_trusted: &dyn Fn(IpAddr) -> bool,
    header: &HeaderName,
) -> Option<CountryCode> {
    if !is_trusted(find_peer(extensions)) {
        return None;
    }
    headers.get(header).and_then(|value| value.to_str().ok()).and_then(CountryCode::parse)
}

fn find_peer(extensions: &Extensions) -> IpAddr {
    let peer =
        extensions.get::<PeerAddress>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
    peer.to_canonical()
}

/// The /64 network of an IPv6 address: one household has a whole /64, and counts as one.
pub(crate) fn mask_to_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let mut segments = v6.segments();
            segments[4..].fill(0);
            IpAddr::V6(Ipv6Addr::from(segments))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: &str) {
        let mut extensions = Extensions::new();
        extensions.insert(PeerAddress(SocketAddr::new(peer.parse().unwrap(), 1)));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_str(value).unwrap());
        }
        let trusted: Vec<IpAddr> = trusted.iter().map(|it| it.parse().unwrap()).collect();
        assert_eq!(
            find_address(&extensions, &headers, &|it| trusted.contains(&it)).to_string(),
            expected
        );
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        check("9.9.9.9", &["1.2.3.4"], &[], "9.9.9.9");
        check("10.0.0.1", &["1.2.3.4"], &["10.0.0.1"], "1.2.3.4");
        check("10.0.0.1", &["6.6.6.6, 1.2.3.4", "10.0.0.2"], &["10.0.0.1", "10.0.0.2"], "1.2.3.4");
        check("10.0.0.1", &["6.6.6.6, 1.2.3.4:5678"], &["10.0.0.1"], "1.2.3.4");
        check("10.0.0.1", &["[2001:db8::7]:443"], &["10.0.0.1"], "2001:db8::");
        check("10.0.0.1", &["\"[2001:db8::7]\""], &["10.0.0.1"], "2001:db8::");
        check("10.0.0.1", &["nonsense"], &["10.0.0.1"], "10.0.0.1");
    }

    #[test]
    fn addresses_are_compared_in_one_form() {
        check("::ffff:9.9.9.9", &[], &[], "9.9.9.9");
        check("2001:db8:1:2:3:4:5:6", &[], &[], "2001:db8:1:2::");
    }

    #[test]
    fn an_origin_is_read_as_it_was_written() {
        let address = "2001:db8:1:2::".parse().unwrap();
        for country in [None, CountryCode::parse("KP")] {
            let origin = CallerOrigin { address, country };
            assert_eq!(CallerOrigin::parse(&origin.to_text()), Some(origin));
        }
        for wrong in ["", "KP", "1.2.3.4 ", "1.2.3.4 T1", "1.2.3.4 KP KR", "1.2.3.4:5 KP"] {
            assert_eq!(CallerOrigin::parse(wrong), None, "{wrong}");
        }
    }
}
