//! The networks that payments and sign-ins name, in CAIP-2 form or by the older short names.

use std::fmt;

/// A chain. Displays in CAIP-2 form, such as `eip155:8453`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChainNetwork {
    Evm { chain_id: u64 },
    Solana(SolanaCluster),
}

/// Solana's networks, identified by the first 32 characters of their genesis hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SolanaCluster {
    Mainnet,
    Devnet,
}

/// The names of x402 version 1, which older clients still send.
const SHORT_NAMES: [(&str, ChainNetwork); 4] = [
    ("base", ChainNetwork::Evm { chain_id: 8453 }),
    ("base-sepolia", ChainNetwork::Evm { chain_id: 84532 }),
    ("solana", ChainNetwork::Solana(SolanaCluster::Mainnet)),
    ("solana-devnet", ChainNetwork::Solana(SolanaCluster::Devnet)),
];

/// The chain names in messages of Solana's own sign-in.
const SIGNED_NAMES: [(&str, SolanaCluster); 4] = [
    ("mainnet", SolanaCluster::Mainnet),
    ("devnet", SolanaCluster::Devnet),
    ("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", SolanaCluster::Mainnet),
    ("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", SolanaCluster::Devnet),
];

impl ChainNetwork {
    /// Parses `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp` or a short name.
    pub fn parse(text: &str) -> Option<ChainNetwork> {
        if let Some((_, network)) = SHORT_NAMES.iter().find(|(name, _)| *name == text) {
            return Some(*network);
        }
        match text.split_once(':')? {
            ("eip155", reference) => {
                parse_chain_id(reference).map(|chain_id| ChainNetwork::Evm { chain_id })
            }
            ("solana", reference) => SolanaCluster::parse(reference).map(ChainNetwork::Solana),
            _ => None,
        }
    }

    /// Like [`ChainNetwork::parse`], and also parses the names of Solana's own sign-in: `mainnet`,
    /// `solana:mainnet`.
    pub(crate) fn parse_signed(text: &str) -> Option<ChainNetwork> {
        let reference = text.strip_prefix("solana:").unwrap_or(text);
        let solana = SolanaCluster::parse_signed(reference).map(ChainNetwork::Solana);
        solana.or_else(|| ChainNetwork::parse(text))
    }

    /// The part after the colon, which signed messages contain.
    pub fn reference(self) -> String {
        match self {
            ChainNetwork::Evm { chain_id } => chain_id.to_string(),
            ChainNetwork::Solana(cluster) => cluster.reference().to_owned(),
        }
    }
}

impl fmt::Display for ChainNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainNetwork::Evm { chain_id } => write!(f, "eip155:{chain_id}"),
            ChainNetwork::Solana(cluster) => write!(f, "solana:{}", cluster.reference()),
        }
    }
}

impl SolanaCluster {
    pub(crate) fn parse(reference: &str) -> Option<SolanaCluster> {
        let clusters = [SolanaCluster::Mainnet, SolanaCluster::Devnet];
        clusters.into_iter().find(|cluster| cluster.reference() == reference)
    }

    /// Also parses the names of Solana's own sign-in, and the whole genesis hash.
    pub(crate) fn parse_signed(reference: &str) -> Option<SolanaCluster> {
        SIGNED_NAMES
            .iter()
            .find(|(name, _)| *name == reference)
            .map(|(_, cluster)| *cluster)
            .or_else(|| SolanaCluster::parse(reference))
    }

    fn reference(self) -> &'static str {
        match self {
            SolanaCluster::Mainnet => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            SolanaCluster::Devnet => "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        }
    }
}

/// Parses a chain id in plain decimal: no sign, no leading zero.
pub(crate) fn parse_chain_id(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if is_plain { text.parse().ok() } else { None }
}
