//! Addresses of providers: issuers, which are compared as texts, and endpoints.

use std::fmt;
use std::net::IpAddr;

use url::form_urlencoded::Serializer;
use url::{Host, Url};

const URL_BYTES_MAX: usize = 2048;
const ISSUER_BYTES_MAX: usize = 512;

/// An endpoint of a provider: https, or http on this machine; no credentials, no fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderUrl(String);

impl ProviderUrl {
    pub fn parse(text: &str) -> Option<ProviderUrl> {
        if URL_BYTES_MAX < text.len() || text.chars().any(is_unfit) {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_protected = match url.scheme() {
            "https" => true,
            "http" => is_loopback(&url),
            _ => false,
        };
        let is_plain =
            url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        (is_protected && is_plain && url.has_host()).then(|| ProviderUrl(url.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address with parameters appended to its query, which may have some already.
    pub(crate) fn with_parameters(&self, parameters: &[(&str, &str)]) -> String {
        let has_query = self.0.contains('?');
        let start = format!("{}{}", self.0, if has_query { '&' } else { '?' });
        let length = start.len();
        Serializer::for_suffix(start, length).extend_pairs(parameters).finish()
    }
}

impl fmt::Display for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a provider: an https address (http on this machine) without query and fragment. It is
/// compared as text, so the configured one must be the provider's to the last character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssuerUrl(String);

impl IssuerUrl {
    pub fn parse(text: &str) -> Option<IssuerUrl> {
        ProviderUrl::parse(text)?;
        let is_plain = text.len() <= ISSUER_BYTES_MAX && !text.contains(['?', '#', '{', '}']);
        is_plain.then(|| IssuerUrl(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address of the provider's metadata.
    pub fn discovery_url(&self) -> String {
        format!("{}/.well-known/openid-configuration", self.0.trim_end_matches('/'))
    }
}

impl fmt::Display for IssuerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters that a parser of URLs drops or replaces, so that the text would not be what is used.
fn is_unfit(letter: char) -> bool {
    letter.is_control() || letter.is_whitespace() || letter == '\\'
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}
