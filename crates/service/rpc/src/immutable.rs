//! Results that never change, so that they can be cached without asking a node again.
//!
//! Blocks are identified by the hash of their contents: such a result survives any reorganisation
//! of the chain. A transaction's hash is not sufficient, because its block may change. Null, errors
//! and empty results are never cached: the node may only be behind.

use crate::call::ProxyCall;
use crate::networks::{ChainFamily, RpcNetwork};

/// Constant for the whole life of a chain.
const FIXED: [&str; 3] = ["eth_chainId", "net_version", "starknet_chainId"];

/// Determined by the block hash in the first parameter.
const BY_BLOCK_HASH: [&str; 8] = [
    "eth_getBlockByHash",
    "eth_getBlockReceipts",
    "eth_getBlockTransactionCountByHash",
    "eth_getHeaderByHash",
    "eth_getRawTransactionByBlockHashAndIndex",
    "eth_getTransactionByBlockHashAndIndex",
    "eth_getUncleByBlockHashAndIndex",
    "eth_getUncleCountByBlockHash",
];

/// True if the result of the call can never change.
pub(crate) fn is_immutable(call: &ProxyCall, network: RpcNetwork) -> bool {
    let name = call.method.name;
    if FIXED.contains(&name) {
        return true;
    }
    // zkSync adds the batch number to a block once there is one.
    network.family() != ChainFamily::Zksync
        && BY_BLOCK_HASH.contains(&name)
        && starts_with_hash(call.params())
}

/// True if a result is not empty.
pub(crate) fn has_content(result: &str) -> bool {
    !["null", "\"0x\"", "\"\"", "[]", "{}"].contains(&result)
}

fn starts_with_hash(params: &str) -> bool {
    let inside = params.trim_start().strip_prefix('[').unwrap_or_default().trim_start();
    let Some(digits) = inside.strip_prefix("\"0x") else { return false };
    let Some((hash, _)) = digits.split_once('"') else { return false };
    hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
