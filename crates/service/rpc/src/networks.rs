//! The chains the proxy knows: their slugs, base credits and chain ids.

use std::fmt;

/// A network slug the proxy knows, such as `base-mainnet`.
#[derive(Clone, Copy)]
pub struct RpcNetwork(&'static ChainInfo);

impl RpcNetwork {
    pub fn parse(slug: &str) -> Option<RpcNetwork> {
        CHAINS.iter().find(|it| it.slug == slug).map(RpcNetwork)
    }

    /// Every network, sorted by slug.
    pub fn all() -> impl Iterator<Item = RpcNetwork> {
        CHAINS.iter().map(RpcNetwork)
    }

    pub fn slug(self) -> &'static str {
        self.0.slug
    }

    pub fn family(self) -> ChainFamily {
        self.0.family
    }

    /// The credits of one Standard call.
    pub fn base_credits(self) -> u32 {
        match self.0.family {
            ChainFamily::Zksync => 30,
            ChainFamily::Arbitrum
            | ChainFamily::Avalanche
            | ChainFamily::Base
            | ChainFamily::Blast
            | ChainFamily::Bsc
            | ChainFamily::Ethereum
            | ChainFamily::Linea
            | ChainFamily::Optimism
            | ChainFamily::Polygon
            | ChainFamily::Starknet => 20,
        }
    }

    /// The chain id that a node of this network must report.
    pub fn chain_id(self) -> u128 {
        self.0.chain_id
    }

    /// The method that returns a node's chain id.
    pub fn chain_id_method(self) -> &'static str {
        if self.0.family == ChainFamily::Starknet { "starknet_chainId" } else { "eth_chainId" }
    }

    /// The SKU of this network's calls in usage reports.
    pub fn sku(self) -> String {
        ["crypto-rpc-", self.0.slug].concat()
    }
}

impl PartialEq for RpcNetwork {
    fn eq(&self, other: &RpcNetwork) -> bool {
        self.0.slug == other.0.slug
    }
}

impl Eq for RpcNetwork {}

impl fmt::Display for RpcNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.slug)
    }
}

impl fmt::Debug for RpcNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", self.0.slug)
    }
}

/// Chains whose nodes support the same methods; the first word of a slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainFamily {
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

impl ChainFamily {
    pub fn name(self) -> &'static str {
        match self {
            ChainFamily::Arbitrum => "arbitrum",
            ChainFamily::Avalanche => "avalanche",
            ChainFamily::Base => "base",
            ChainFamily::Blast => "blast",
            ChainFamily::Bsc => "bsc",
            ChainFamily::Ethereum => "ethereum",
            ChainFamily::Linea => "linea",
            ChainFamily::Optimism => "optimism",
            ChainFamily::Polygon => "polygon",
            ChainFamily::Starknet => "starknet",
            ChainFamily::Zksync => "zksync",
        }
    }
}

struct ChainInfo {
    slug: &'static str,
    family: ChainFamily,
    chain_id: u128,
}

static CHAINS: [ChainInfo; 23] = [
    define_chain("arbitrum-mainnet", ChainFamily::Arbitrum, 42_161),
    define_chain("arbitrum-sepolia", ChainFamily::Arbitrum, 421_614),
    define_chain("avalanche-fuji", ChainFamily::Avalanche, 43_113),
    define_chain("avalanche-mainnet", ChainFamily::Avalanche, 43_114),
    define_chain("base-mainnet", ChainFamily::Base, 8_453),
    define_chain("base-sepolia", ChainFamily::Base, 84_532),
    define_chain("blast-mainnet", ChainFamily::Blast, 81_457),
    define_chain("blast-sepolia", ChainFamily::Blast, 168_587_773),
    define_chain("bsc-mainnet", ChainFamily::Bsc, 56),
    define_chain("bsc-testnet", ChainFamily::Bsc, 97),
    define_chain("ethereum-holesky", ChainFamily::Ethereum, 17_000),
    define_chain("ethereum-mainnet", ChainFamily::Ethereum, 1),
    define_chain("ethereum-sepolia", ChainFamily::Ethereum, 11_155_111),
    define_chain("linea-mainnet", ChainFamily::Linea, 59_144),
    define_chain("linea-sepolia", ChainFamily::Linea, 59_141),
    define_chain("optimism-mainnet", ChainFamily::Optimism, 10),
    define_chain("optimism-sepolia", ChainFamily::Optimism, 11_155_420),
    define_chain("polygon-amoy", ChainFamily::Polygon, 80_002),
    define_chain("polygon-mainnet", ChainFamily::Polygon, 137),
    define_chain("starknet-mainnet", ChainFamily::Starknet, short_string(b"SN_MAIN")),
    define_chain("starknet-sepolia", ChainFamily::Starknet, short_string(b"SN_SEPOLIA")),
    define_chain("zksync-mainnet", ChainFamily::Zksync, 324),
    define_chain("zksync-sepolia", ChainFamily::Zksync, 300),
];

const fn define_chain(slug: &'static str, family: ChainFamily, chain_id: u128) -> ChainInfo {
    ChainInfo { slug, family, chain_id }
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
