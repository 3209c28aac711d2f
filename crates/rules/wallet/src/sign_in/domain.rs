//! Checks that a sign-in names one of our own sites.

/// True if a domain, with or without scheme and path, is one of ours. Older clients omit our port;
/// a different port is a different site. If our domain has a scheme, any other scheme is refused.
pub(super) fn is_ours(domains: &[String], named: &str) -> bool {
    let (scheme, rest) = split_scheme(named);
    let named = SiteAuthority { scheme, host: extract_authority(rest) };
    domains.iter().any(|domain| {
        let (our_scheme, host) = split_scheme(domain);
        let is_same_scheme = scheme.is_none() || our_scheme.is_none() || scheme == our_scheme;
        is_same_scheme && is_same_site(SiteAuthority { scheme: our_scheme, host }, named)
    })
}

/// True if the origin of a URI is one of ours; a matching prefix is not enough.
pub(super) fn is_uri_ours(domains: &[String], uri: &str) -> bool {
    split_scheme(uri).0.is_some() && is_ours(domains, uri)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UrlScheme {
    Http,
    Https,
}

fn split_scheme(uri: &str) -> (Option<UrlScheme>, &str) {
    if let Some(rest) = uri.strip_prefix("https://") {
        return (Some(UrlScheme::Https), rest);
    }
    match uri.strip_prefix("http://") {
        Some(rest) => (Some(UrlScheme::Http), rest),
        None => (None, uri),
    }
}

fn extract_authority(uri: &str) -> &str {
    uri.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The scheme of a site, if it has one, and its host with an optional port.
#[derive(Clone, Copy)]
struct SiteAuthority<'a> {
    scheme: Option<UrlScheme>,
    host: &'a str,
}

fn is_same_site(ours: SiteAuthority<'_>, named: SiteAuthority<'_>) -> bool {
    let (our_host, our_port) = split_port(ours.host);
    let (named_host, named_port) = split_port(named.host);
    let is_same_port = match (our_port, named_port) {
        (Some(our_port), Some(named_port)) => our_port == named_port,
        (None, Some(port)) => match named.scheme.or(ours.scheme) {
            Some(UrlScheme::Http) => port == "80",
            Some(UrlScheme::Https) => port == "443",
            None => port == "80" || port == "443",
        },
        (_, None) => true,
    };
    our_host.eq_ignore_ascii_case(named_host) && is_same_port
}

/// Splits off the port. Colons within the brackets of an IPv6 address do not start one.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: &str, named: &str, expected: bool) {
        assert_eq!(is_ours(&[ours.to_owned()], named), expected, "{ours} and {named}");
    }

    #[test]
    fn another_port_or_scheme_is_another_site() {
        check("example.com", "example.com", true);
        check("example.com", "example.com:443", true);
        check("example.com", "example.com:4444", false);
        check("example.com", "http://example.com:443/", false);
        check("example.com:8080", "example.com", true);
        check("example.com:8080", "example.com:8081", false);
        check("https://example.com", "example.com", true);
        check("https://example.com", "https://example.com/a", true);
        check("https://example.com", "http://example.com/a", false);
        check("https://example.com", "example.com:80", false);
        check("https://[::1]", "https://[::1]:443/", true);
        check("example.com", "example.com.evil.org", false);
    }
}
