//! Reads the stakes of wallets from the staking contract.

use serde_json::json;
use wallet::EvmAddress;

use crate::node::ChainNode;

/// The selector of `balanceOf(address)`, which staking contracts share with tokens.
const BALANCE_OF: &str = "70a08231";
const WORD_DIGITS: usize = 64;
/// The contract has 18 decimals and we have 9.
const UNITS_PER_NANO: u128 = 1_000_000_000;

/// The staking contract, and a node of its chain.
#[derive(Debug)]
pub struct StakeContractClient {
    node: ChainNode,
    contract: EvmAddress,
}

impl StakeContractClient {
    pub fn new(rpc_url: &str, contract: EvmAddress) -> Result<StakeContractClient, String> {
        Ok(StakeContractClient { node: ChainNode::new(rpc_url)?, contract })
    }

    /// The stake of a wallet in nano-DIEM, rounded down.
    pub async fn stake_of(&self, wallet: EvmAddress) -> Result<i64, String> {
        let wallet = wallet.to_string().to_lowercase();
        let digits = wallet.trim_start_matches("0x");
        let input = format!("0x{BALANCE_OF}{digits:0>WORD_DIGITS$}");
        let call = json!({ "to": self.contract.to_string(), "input": input });
        let returned = self.node.call("eth_call", json!([call, "latest"])).await;
        let returned = returned.map_err(|error| error.to_string())?;
        decode_nanos(returned.as_str().unwrap_or_default())
            .ok_or_else(|| "the contract's answer is no amount".to_owned())
    }
}

/// Decodes one hexadecimal word; None if it does not fit.
fn decode_nanos(word: &str) -> Option<i64> {
    let digits = word.strip_prefix("0x").filter(|digits| digits.len() == WORD_DIGITS)?;
    let (high, low) = digits.split_at(WORD_DIGITS / 2);
    let is_small = high.bytes().all(|digit| digit == b'0');
    let units = u128::from_str_radix(low, 16).ok().filter(|_| is_small)?;
    i64::try_from(units / UNITS_PER_NANO).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_an_amount_of_eighteen_decimals() {
        let word = |units: u128| format!("0x{units:064x}");
        assert_eq!(decode_nanos(&word(12_500_000_000_000_000_000)), Some(12_500_000_000));
        assert_eq!(decode_nanos(&word(999_999_999)), Some(0));
        assert_eq!(decode_nanos("0x"), None, "there is no contract");
        assert_eq!(decode_nanos(&format!("0x{}", "f".repeat(64))), None);
    }
}
