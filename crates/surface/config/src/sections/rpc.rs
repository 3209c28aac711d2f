//! `[rpc]`: the proxy to blockchain nodes.

use std::time::Duration;

use crate::fault::did_you_mean;
use crate::key::ValueKind;
use crate::key_type::{KeyType, SECRET_URLS, integer};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::{SectionTable, config_section};

/// One US dollar per credit; a higher price is a typing error.
const PRICE_NANO_MAX: i64 = 1_000_000_000;

config_section! {
    /// The JSON-RPC proxy to blockchain nodes.
    #[section(One, "rpc")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RpcConfig {
        /// The price of a credit, in billionths of a US dollar.
        price_nano_usd_per_credit: i64 = integer(0, PRICE_NANO_MAX), default(625);
        /// Sends a read also to a second node if the first has not answered after this many
        /// milliseconds. Default: never.
        "hedge_after_ms" => hedge_after: Option<Duration> = integer(1, 60_000), optional,
            parse(|milliseconds: u64| Ok(Duration::from_millis(milliseconds)));
        /// The served networks, by slug.
        networks: Vec<RpcNetworkConfig> = SERVED_NETWORKS, optional;
    }
}

config_section! {
    /// A served network, such as `[rpc.networks.ethereum-mainnet]`.
    #[section(One, "rpc.networks.<network>")]
    pub(crate) struct RpcNetworkKeys {
        /// The URLs of its nodes. The first is used; the others are fallbacks.
        urls: Vec<SecretString> = SECRET_URLS, required;
    }
}

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
pub struct RpcNetworkConfig {
    /// One of [`NETWORKS`].
    pub slug: &'static str,
    /// At least one.
    pub urls: Vec<SecretString>,
}

const SERVED_NETWORKS: KeyType<Vec<RpcNetworkConfig>> = KeyType {
    kind: ValueKind::NamedTables,
    read: |reader, name| {
        let networks = reader.named_tables(name, RpcNetworkKeys::SECTION.keys);
        Some(networks.iter().filter_map(|(slug, network)| read_network(slug, network)).collect())
    },
};

fn read_network(slug: &str, reader: &TableReader<'_>) -> Option<RpcNetworkConfig> {
    let RpcNetworkKeys { urls } = RpcNetworkKeys::read(reader)?;
    let known = NETWORKS.iter().copied().find(|known| *known == slug);
    if known.is_none() {
        let hint = did_you_mean(slug, NETWORKS.iter().copied());
        let message = format!("unknown network `{slug}` in [rpc.networks]{hint}");
        reader.faults().push(reader.origin(), message);
    }
    Some(RpcNetworkConfig { slug: known?, urls })
}
