//! `[rpc]`: the proxy to blockchain nodes.

use std::time::Duration;

use super::HTTP;
use crate::fault::did_you_mean;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::{SecretResolver, SecretString};

/// One US dollar per credit; a higher price is a typing error.
const PRICE_NANO_MAX: i64 = 1_000_000_000;

pub const SECTION: ConfigSection = ConfigSection {
    name: "rpc",
    form: SectionForm::One,
    doc: "The JSON-RPC proxy to blockchain nodes.",
    keys: &[
        ConfigKey::with_default(
            "price_nano_usd_per_credit",
            ValueKind::Integer { least: 0, most: PRICE_NANO_MAX },
            "625",
            "The price of a credit, in billionths of a US dollar.",
        ),
        ConfigKey::optional(
            "hedge_after_ms",
            ValueKind::Integer { least: 1, most: 60_000 },
            "Sends a read also to a second node if the first has not answered after this many \
             milliseconds. Default: never.",
        ),
        ConfigKey::optional("networks", ValueKind::NamedTables, "The served networks, by slug."),
    ],
};

pub const NETWORK_SECTION: ConfigSection = ConfigSection {
    name: "rpc.networks.<network>",
    form: SectionForm::One,
    doc: "A served network, such as `[rpc.networks.ethereum-mainnet]`.",
    keys: &[ConfigKey::required(
        "urls",
        ValueKind::SecretUrls(HTTP),
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
pub struct RpcConfig {
    pub price_nano_usd_per_credit: i64,
    pub hedge_after: Option<Duration>,
    pub networks: Vec<RpcNetworkConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcNetworkConfig {
    /// One of [`NETWORKS`].
    pub slug: &'static str,
    /// At least one.
    pub urls: Vec<SecretString>,
}

pub(crate) fn read_rpc_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<RpcConfig> {
    let price = reader.integer("price_nano_usd_per_credit");
    let networks = reader.named_tables("networks", NETWORK_SECTION.keys);
    let networks = networks.iter().filter_map(|(slug, network)| read_network(slug, network, vault));
    let networks = networks.collect();
    let hedge_after_ms = reader.integer("hedge_after_ms").and_then(|ms| u64::try_from(ms).ok());
    let hedge_after = hedge_after_ms.map(Duration::from_millis);
    Some(RpcConfig { price_nano_usd_per_credit: price?, hedge_after, networks })
}

fn read_network(
    slug: &str,
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<RpcNetworkConfig> {
    let urls = vault.resolve_urls(reader, "urls")?;
    let known = NETWORKS.iter().copied().find(|known| *known == slug);
    if known.is_none() {
        let hint = did_you_mean(slug, NETWORKS.iter().copied());
        reader
            .faults()
            .push(reader.origin(), format!("unknown network `{slug}` in [rpc.networks]{hint}"));
    }
    Some(RpcNetworkConfig { slug: known?, urls })
}
