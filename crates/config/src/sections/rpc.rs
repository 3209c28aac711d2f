//! `[rpc]`: the proxy to blockchain nodes.

use std::time::Duration;

use super::HTTP;
use crate::fault::did_you_mean;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::{Secret, Vault};

/// One US dollar per credit; a higher price is a typing error.
const PRICE_NANO_MAX: i64 = 1_000_000_000;

pub const SECTION: Section = Section {
    name: "rpc",
    form: Form::One,
    doc: "The JSON-RPC proxy to blockchain nodes.",
    keys: &[
        Key::with_default(
            "price_nano_usd_per_credit",
            Kind::Integer { least: 0, most: PRICE_NANO_MAX },
            "625",
            "The price of a credit, in billionths of a US dollar.",
        ),
        Key::optional(
            "hedge_after_ms",
            Kind::Integer { least: 1, most: 60_000 },
            "Sends a read also to a second node if the first has not answered after this many \
             milliseconds. Default: never.",
        ),
        Key::optional("networks", Kind::NamedTables, "The served networks, by slug."),
    ],
};

pub const NETWORK_SECTION: Section = Section {
    name: "rpc.networks.<network>",
    form: Form::One,
    doc: "A served network, such as `[rpc.networks.ethereum-mainnet]`.",
    keys: &[Key::required(
        "urls",
        Kind::SecretUrls(HTTP),
        "The URLs of its nodes. The first is used; the others are fallbacks.",
    )],
};

/// The slugs of the supported networks.
pub const NETWORKS: &[&str] = &[
    "arbitrum-mainnet",
    "arbitrum-sepolia",
    "avalanche-fuji",
    "avalanche-mainnet",
    "base-mainnet",
    "base-sepolia",
    "blast-mainnet",
    "blast-sepolia",
    "bsc-mainnet",
    "bsc-testnet",
    "ethereum-holesky",
    "ethereum-mainnet",
    "ethereum-sepolia",
    "linea-mainnet",
    "linea-sepolia",
    "optimism-mainnet",
    "optimism-sepolia",
    "polygon-amoy",
    "polygon-mainnet",
    "starknet-mainnet",
    "starknet-sepolia",
    "zksync-mainnet",
    "zksync-sepolia",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rpc {
    pub price_nano_usd_per_credit: i64,
    pub hedge_after: Option<Duration>,
    pub networks: Vec<Network>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// One of [`NETWORKS`].
    pub slug: &'static str,
    /// At least one.
    pub urls: Vec<Secret>,
}

pub(crate) fn read(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<Rpc> {
    let price = reader.integer("price_nano_usd_per_credit");
    let networks = reader.named_tables("networks", NETWORK_SECTION.keys);
    let networks = networks.iter().filter_map(|(slug, network)| read_network(slug, network, vault));
    let networks = networks.collect();
    let hedge_after_ms = reader.integer("hedge_after_ms").and_then(|ms| u64::try_from(ms).ok());
    let hedge_after = hedge_after_ms.map(Duration::from_millis);
    Some(Rpc { price_nano_usd_per_credit: price?, hedge_after, networks })
}

fn read_network(slug: &str, reader: &Reader<'_>, vault: &Vault<'_>) -> Option<Network> {
    let urls = vault.urls(reader, "urls")?;
    let known = NETWORKS.iter().copied().find(|known| *known == slug);
    if known.is_none() {
        let hint = did_you_mean(slug, NETWORKS.iter().copied());
        reader
            .faults()
            .push(reader.origin(), format!("unknown network `{slug}` in [rpc.networks]{hint}"));
    }
    Some(Network { slug: known?, urls })
}
