//! Whether a sign-in names one of our own sites.

/// Whether a domain, with or without scheme and path, is one of ours. A port counts only where
/// both sides name one: older clients leave theirs out.
pub(super) fn is_ours(domains: &[String], named: &str) -> bool {
    let scheme_free = without_scheme(named).unwrap_or(named);
    let host = authority(scheme_free);
    domains.iter().any(|domain| is_same_site(domain, host))
}

/// Whether the origin of a URI is one of ours. What merely begins like it is not.
pub(super) fn is_uri_ours(domains: &[String], uri: &str) -> bool {
    without_scheme(uri).is_some() && is_ours(domains, uri)
}

fn without_scheme(uri: &str) -> Option<&str> {
    uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))
}

fn authority(uri: &str) -> &str {
    uri.split(['/', '?', '#']).next().unwrap_or_default()
}

fn is_same_site(ours: &str, named: &str) -> bool {
    let (our_host, our_port) = split_port(ours);
    let (named_host, named_port) = split_port(named);
    let is_same_port = match (our_port, named_port) {
        (Some(our_port), Some(named_port)) => our_port == named_port,
        _ => true,
    };
    our_host.eq_ignore_ascii_case(named_host) && is_same_port
}

/// The colons within the brackets of an IPv6 address start no port.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    }
}
