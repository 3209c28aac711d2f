//! The chains the proxy knows: their slugs, base credits and chain ids.

use std::fmt;

/// A network slug the proxy knows, such as `base-mainnet`.
#[derive(Clone, Copy)]
pub struct Network(&'static Chain);

impl Network {
    pub fn parse(slug: &str) -> Option<Network> {
        CHAINS.iter().find(|it| it.slug == slug).map(Network)
    }

    /// Every network, sorted by slug.
    pub fn all() -> impl Iterator<Item = Network> {
        CHAINS.iter().map(Network)
    }

    pub fn slug(self) -> &'static str {
        self.0.slug
    }

    pub fn family(self) -> Family {
        self.0.family
    }

    /// The credits of one Standard call.
    pub fn base_credits(self) -> u32 {
        match self.0.family {
            Family::Zksync => 30,
            Family::Arbitrum
            | Family::Avalanche
            | Family::Base
            | Family::Blast
            | Family::Bsc
            | Family::Ethereum
            | Family::Linea
            | Family::Optimism
            | Family::Polygon
            | Family::Starknet => 20,
        }
    }

    /// The chain id that a node of this network must report.
    pub fn chain_id(self) -> u128 {
        self.0.chain_id
    }

    /// The method that returns a node's chain id.
    pub fn chain_id_method(self) -> &'static str {
        if self.0.family == Family::Starknet { "starknet_chainId" } else { "eth_chainId" }
    }

    /// The SKU of this network's calls in usage reports.
    pub fn sku(self) -> String {
        ["crypto-rpc-", self.0.slug].concat()
    }
}

impl PartialEq for Network {
    fn eq(&self, other: &Network) -> bool {
        self.0.slug == other.0.slug
    }
}

impl Eq for Network {}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.slug)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", self.0.slug)
    }
}

/// Chains whose nodes support the same methods; the first word of a slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Arbitrum,
    Avalanche,
    Base,
    Blast,
    Bsc,
    Ethereum,
    Linea,
    Optimism,
    Polygon,
    Starknet,
    Zksync,
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Family::Arbitrum => "arbitrum",
            Family::Avalanche => "avalanche",
            Family::Base => "base",
            Family::Blast => "blast",
            Family::Bsc => "bsc",
            Family::Ethereum => "ethereum",
            Family::Linea => "linea",
            Family::Optimism => "optimism",
            Family::Polygon => "polygon",
            Family::Starknet => "starknet",
            Family::Zksync => "zksync",
        }
    }
}

struct Chain {
    slug: &'static str,
    family: Family,
    chain_id: u128,
}

static CHAINS: [Chain; 23] = [
    chain("arbitrum-mainnet", Family::Arbitrum, 42_161),
    chain("arbitrum-sepolia", Family::Arbitrum, 421_614),
    chain("avalanche-fuji", Family::Avalanche, 43_113),
    chain("avalanche-mainnet", Family::Avalanche, 43_114),
    chain("base-mainnet", Family::Base, 8_453),
    chain("base-sepolia", Family::Base, 84_532),
    chain("blast-mainnet", Family::Blast, 81_457),
    chain("blast-sepolia", Family::Blast, 168_587_773),
    chain("bsc-mainnet", Family::Bsc, 56),
    chain("bsc-testnet", Family::Bsc, 97),
    chain("ethereum-holesky", Family::Ethereum, 17_000),
    chain("ethereum-mainnet", Family::Ethereum, 1),
    chain("ethereum-sepolia", Family::Ethereum, 11_155_111),
    chain("linea-mainnet", Family::Linea, 59_144),
    chain("linea-sepolia", Family::Linea, 59_141),
    chain("optimism-mainnet", Family::Optimism, 10),
    chain("optimism-sepolia", Family::Optimism, 11_155_420),
    chain("polygon-amoy", Family::Polygon, 80_002),
    chain("polygon-mainnet", Family::Polygon, 137),
    chain("starknet-mainnet", Family::Starknet, short_string(b"SN_MAIN")),
    chain("starknet-sepolia", Family::Starknet, short_string(b"SN_SEPOLIA")),
    chain("zksync-mainnet", Family::Zksync, 324),
    chain("zksync-sepolia", Family::Zksync, 300),
];

const fn chain(slug: &'static str, family: Family, chain_id: u128) -> Chain {
    Chain { slug, family, chain_id }
}

/// Encodes a Starknet short string: the number that its ASCII bytes form. Chain ids are such
/// strings.
const fn short_string(ascii: &[u8]) -> u128 {
    let mut number = 0;
    let mut index = 0;
    while index < ascii.len() {
        number = number << 8 | ascii[index] as u128;
        index += 1;
    }
    number
}
