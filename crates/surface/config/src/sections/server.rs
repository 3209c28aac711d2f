//! `[server]`: listen addresses, public URL, timeouts and limits of connections.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::key::ValueKind;
use crate::key_type::{ADDRESS, BASE_URL, KeyType, TEXT, integer, seconds};
use crate::reader::TableReader;
use crate::section_table::config_section;

config_section! {
    /// Listen addresses, public URL, timeouts and connection limits.
    #[section(One, "server")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ServerConfig {
        /// The listen address of the API, the console and the documentation. Port 0: any free
        /// port.
        listen: SocketAddr = ADDRESS, default("127.0.0.1:8080");
        /// The listen address of health, readiness and metrics. Do not expose it publicly.
        admin_listen: SocketAddr = ADDRESS, default("127.0.0.1:8081");
        /// The public URL of the service, if it is behind a proxy. Default: `http://` and
        /// `listen`.
        public_url: Option<String> = BASE_URL, optional;
        /// The hosts that wallet sign-in messages may name, in addition to the host of
        /// `public_url`. If `public_url` is set and this is not, only the former is accepted.
        /// With `https://` before a host, the message must have it too.
        domains: Vec<String> = DOMAINS, default(["localhost:8080"]);
        /// Addresses or ranges (10.0.0.0/8) of proxies whose X-Forwarded-For header is trusted.
        trusted_proxies: Vec<AddressRange> = ADDRESS_RANGES, default([]);
        /// The header in which trusted proxies send the caller's country as two letters, such as
        /// `cf-ipcountry`. Without it, `region_restrictions` of models are shown but not
        /// enforced.
        country_header: Option<String> = TEXT, optional, parse(parse_header_name);
        /// The value of the response header `x-service-host-name`, which identifies the node.
        /// Default: the host name in development, otherwise no header.
        host_name: Option<String> = TEXT, optional;
        /// The maximum number of open connections per address; an IPv6 /64 network counts as one
        /// address. Trusted proxies are not limited.
        connections_per_address: usize = integer(1, 16_384), default(512);
        /// Timeout for receiving the headers of a request, and for an idle HTTP/1.1 connection
        /// between two requests.
        "header_timeout_s" => header_timeout: Duration = seconds(1, 3600), default(30);
        /// Timeout of an HTTP/2 connection without requests.
        "idle_timeout_s" => idle_timeout: Duration = seconds(1, 3600), default(60);
        /// Timeout for a client that does not read the response. An HTTP/2 stream that accepts
        /// less than 16 KiB in this time is reset; an HTTP/1.1 connection is closed.
        "send_timeout_s" => send_timeout: Duration = seconds(1, 3600), default(30);
        /// The maximum memory in MiB of the bodies of all concurrent requests; one caller may
        /// use half of it. Further requests get 503.
        "bodies_max_mb" => bodies_bytes_max: usize = integer(64, 1_048_576), default(512),
            parse(|mebibytes: usize| Ok(mebibytes.saturating_mul(1 << 20)));
        /// Time for running requests to complete after SIGTERM.
        "shutdown_grace_s" => shutdown_grace: Duration = seconds(0, 3600), default(30);
    }
    check check_listeners(listen, admin_listen);
}

impl ServerConfig {
    /// True if proxies forward requests, probably over TLS, and nothing tells the service that
    /// callers use TLS: cookies of the console are then sent without `Secure`.
    pub fn lacks_https_url(&self) -> bool {
        let is_https = self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        !self.trusted_proxies.is_empty() && !is_https
    }
}

/// A range of IP addresses with a common prefix: `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    prefix_bits: u32,
}

impl AddressRange {
    /// Parses `address/bits`, or a single address.
    pub fn parse(text: &str) -> Option<AddressRange> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().ok()?;
        let bits_max = if first.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= bits_max)?,
            None => bits_max,
        };
        Some(AddressRange { first, prefix_bits })
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let difference = first.to_bits() ^ address.to_bits();
                self.prefix_bits <= difference.leading_zeros()
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let difference = first.to_bits() ^ address.to_bits();
                self.prefix_bits <= difference.leading_zeros()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Empty if only `public_url` is set: its default, `localhost`, is for development, and a service
/// with a public URL must not accept it.
const DOMAINS: KeyType<Vec<String>> = KeyType {
    kind: ValueKind::Texts,
    read: |reader, name| {
        let is_only_named = reader.has_key("public_url") && !reader.has_key(name);
        reader.texts(name).map(|it| if is_only_named { Vec::new() } else { it })
    },
};

const ADDRESS_RANGES: KeyType<Vec<AddressRange>> = KeyType {
    kind: ValueKind::Texts,
    read: |reader, name| {
        let read_range = |written: String| {
            let range = AddressRange::parse(&written);
            if range.is_none() {
                let place = reader.place();
                let message = format!(
                    "`{name}` in {place} must be addresses or ranges such as \"10.0.0.0/8\", not {written:?}"
                );
                reader.report_fault(name, message);
            }
            range
        };
        Some(reader.texts(name)?.into_iter().filter_map(read_range).collect())
    },
};

fn check_listeners(
    reader: &TableReader<'_>,
    listen: Option<&SocketAddr>,
    admin_listen: Option<&SocketAddr>,
) {
    // Port 0 requests any free port, so two listeners may share this address.
    if listen.is_some_and(|address| address.port() != 0) && listen == admin_listen {
        reader.report_fault("admin_listen", "`admin_listen` must differ from `listen` in [server]");
    }
}

/// Returns the name in lower case.
fn parse_header_name(written: String) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !written.bytes().all(is_name) {
        return Err("must be the name of a header, such as \"cf-ipcountry\"".to_owned());
    }
    Ok(written.to_ascii_lowercase())
}
