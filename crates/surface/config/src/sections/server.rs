//! `[server]`: listen addresses, public URL, timeouts and limits of connections.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "server",
    form: SectionForm::One,
    doc: "Listen addresses, public URL, timeouts and connection limits.",
    keys: &[
        ConfigKey::with_default(
            "listen",
            ValueKind::Address,
            "\"127.0.0.1:8080\"",
            "The listen address of the API, the console and the documentation. Port 0: any free \
             port.",
        ),
        ConfigKey::with_default(
            "admin_listen",
            ValueKind::Address,
            "\"127.0.0.1:8081\"",
            "The listen address of health, readiness and metrics. Do not expose it publicly.",
        ),
        ConfigKey::optional(
            "public_url",
            ValueKind::Url(HTTP),
            "The public URL of the service, if it is behind a proxy. Default: `http://` and \
             `listen`.",
        ),
        ConfigKey::with_default(
            "domains",
            ValueKind::Texts,
            "[\"localhost:8080\"]",
            "The hosts that wallet sign-in messages may name, in addition to the host of \
             `public_url`. If `public_url` is set and this is not, only the former is accepted. \
             With `https://` before a host, the message must have it too.",
        ),
        ConfigKey::with_default(
            "trusted_proxies",
            ValueKind::Texts,
            "[]",
            "Addresses or ranges (10.0.0.0/8) of proxies whose X-Forwarded-For header is trusted.",
        ),
        ConfigKey::optional(
            "country_header",
            ValueKind::Text,
            "The header in which trusted proxies send the caller's country as two letters, such as \
             `cf-ipcountry`. Without it, `region_restrictions` of models are shown but not \
             enforced.",
        ),
        ConfigKey::optional(
            "host_name",
            ValueKind::Text,
            "The value of the response header `x-service-host-name`, which identifies the node. \
             Default: the host name in development, otherwise no header.",
        ),
        ConfigKey::with_default(
            "connections_per_address",
            ValueKind::Integer { least: 1, most: 16_384 },
            "512",
            "The maximum number of open connections per address; an IPv6 /64 network counts as one \
             address. Trusted proxies are not limited.",
        ),
        ConfigKey::with_default(
            "header_timeout_s",
            ValueKind::Seconds { least: 1, most: 3600 },
            "30",
            "Timeout for receiving the headers of a request, and for an idle HTTP/1.1 connection \
             between two requests.",
        ),
        ConfigKey::with_default(
            "idle_timeout_s",
            ValueKind::Seconds { least: 1, most: 3600 },
            "60",
            "Timeout of an HTTP/2 connection without requests.",
        ),
        ConfigKey::with_default(
            "send_timeout_s",
            ValueKind::Seconds { least: 1, most: 3600 },
            "30",
            "Timeout for a client that does not read the response. An HTTP/2 stream that accepts \
             less than 16 KiB in this time is reset; an HTTP/1.1 connection is closed.",
        ),
        ConfigKey::with_default(
            "bodies_max_mb",
            ValueKind::Integer { least: 64, most: 1_048_576 },
            "512",
            "The maximum memory in MiB of the bodies of all concurrent requests; one caller may \
             use half of it. Further requests get 503.",
        ),
        ConfigKey::with_default(
            "shutdown_grace_s",
            ValueKind::Seconds { least: 0, most: 3600 },
            "30",
            "Time for running requests to complete after SIGTERM.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub listen: SocketAddr,
    pub admin_listen: SocketAddr,
    pub public_url: Option<String>,
    pub domains: Vec<String>,
    pub trusted_proxies: Vec<AddressRange>,
    /// In lower case.
    pub country_header: Option<String>,
    pub host_name: Option<String>,
    pub connections_per_address: usize,
    /// Timeout for receiving the headers of a request.
    pub header_timeout: Duration,
    /// Timeout of an HTTP/2 connection without requests.
    pub idle_timeout: Duration,
    /// Timeout for a client to accept response bytes that are ready.
    pub send_timeout: Duration,
    /// The maximum memory of the bodies of all concurrent requests, in bytes.
    pub bodies_bytes_max: usize,
    pub shutdown_grace: Duration,
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

pub(crate) fn read_server_config(reader: &TableReader<'_>) -> Option<ServerConfig> {
    let listen = reader.address("listen");
    let admin_listen = reader.address("admin_listen");
    let public_url = reader.url("public_url").map(|url| url.trim_end_matches('/').to_owned());
    // The default `localhost` domain is for development; a service with a public URL must not
    // accept it.
    let is_only_named = public_url.is_some() && !reader.has_key("domains");
    let domains = reader.texts("domains").map(|it| if is_only_named { Vec::new() } else { it });
    let trusted_proxies = trusted_proxies(reader);
    let country_header = country_header(reader);
    let host_name = reader.text("host_name");
    let connections_per_address = reader.integer("connections_per_address");
    let header_timeout = reader.seconds("header_timeout_s");
    let idle_timeout = reader.seconds("idle_timeout_s");
    let send_timeout = reader.seconds("send_timeout_s");
    let bodies_max_mb = reader.integer("bodies_max_mb");
    let shutdown_grace = reader.seconds("shutdown_grace_s");
    // Port 0 requests any free port, so two listeners may share this address.
    if listen.is_some_and(|address| address.port() != 0) && listen == admin_listen {
        reader.report_fault("admin_listen", "`admin_listen` must differ from `listen` in [server]");
    }
    Some(ServerConfig {
        listen: listen?,
        admin_listen: admin_listen?,
        public_url,
        domains: domains?,
        trusted_proxies,
        country_header,
        host_name,
        connections_per_address: usize::try_from(connections_per_address?).ok()?,
        header_timeout: header_timeout?,
        idle_timeout: idle_timeout?,
        send_timeout: send_timeout?,
        bodies_bytes_max: usize::try_from(bodies_max_mb?).ok()?.saturating_mul(1 << 20),
        shutdown_grace: shutdown_grace?,
    })
}

fn country_header(reader: &TableReader<'_>) -> Option<String> {
    let name = reader.text("country_header")?.to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_name) {
        let message = "`country_header` in [server] must be the name of a header, such as \
                       \"cf-ipcountry\"";
        reader.report_fault("country_header", message);
        return None;
    }
    Some(name)
}

fn trusted_proxies(reader: &TableReader<'_>) -> Vec<AddressRange> {
    let mut ranges = Vec::new();
    for written in reader.texts("trusted_proxies").unwrap_or_default() {
        match AddressRange::parse(&written) {
            Some(range) => ranges.push(range),
            None => reader.report_fault(
                "trusted_proxies",
                format!("`trusted_proxies` in [server] must be addresses or ranges such as \"10.0.0.0/8\", not {written:?}"),
            ),
        }
    }
    ranges
}
