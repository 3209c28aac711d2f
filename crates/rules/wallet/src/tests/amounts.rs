//! Amounts, addresses and networks at their edges.

use money::Nano;
use proptest::prelude::*;

use crate::{ChainNetwork, EvmAddress, SolanaCluster, TokenAmount, WalletAddress};

#[test]
fn bounds_round_to_the_strict_side() {
    let cents_and_a_bit = Nano::parse("5.0000001").unwrap();
    assert_eq!(TokenAmount::at_least(cents_and_a_bit).units(), 5_000_001);
    assert_eq!(TokenAmount::at_most(cents_and_a_bit).units(), 5_000_000);
    assert_eq!(TokenAmount::at_least(Nano::from_units(5)).units(), 5_000_000);
    assert_eq!(TokenAmount::at_least(Nano::from_nanos(-1)).units(), 0);
    assert_eq!(TokenAmount::at_least(Nano::MAX), TokenAmount::at_most(Nano::MAX));
    assert_eq!(TokenAmount::from_units(u64::MAX), None);
}

#[test]
fn an_evm_address_is_shown_with_its_checksum_and_stored_in_lower_case() {
    let text = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    let lower = text.to_lowercase();
    for written in [text, lower.as_str()] {
        assert_eq!(EvmAddress::parse(written).unwrap().to_string(), text);
        assert_eq!(WalletAddress::parse(written).unwrap().to_string(), lower);
        assert!(EvmAddress::parse_checksummed(written).is_some());
    }
    let mistyped = text.replace("fCD6", "FCD6");
    assert!(EvmAddress::parse(&mistyped).is_some());
    assert_eq!(EvmAddress::parse_checksummed(&mistyped), None);
}

#[test]
fn what_is_no_address_is_refused() {
    let too_short_for_solana = "1".repeat(31);
    for text in [
        "",
        "0x",
        "833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA0291",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA029131",
        "0X833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1O",
        &too_short_for_solana,
    ] {
        assert_eq!(WalletAddress::parse(text), None, "{text}");
    }
    let solana = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    assert_eq!(WalletAddress::parse(solana).unwrap().to_string(), solana);
}

#[test]
fn networks_have_short_names_and_one_full_form() {
    for (written, full) in [
        ("base", "eip155:8453"),
        ("base-sepolia", "eip155:84532"),
        ("solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
        ("solana-devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
        ("eip155:1", "eip155:1"),
    ] {
        assert_eq!(ChainNetwork::parse(written).unwrap().to_string(), full);
        assert_eq!(ChainNetwork::parse(full), ChainNetwork::parse(written));
    }
    for written in ["", "Base", "eip155:", "eip155:-1", "eip155:+1", "solana:", "eip155:1:2"] {
        assert_eq!(ChainNetwork::parse(written), None, "{written}");
    }
    assert_eq!(ChainNetwork::parse("solana"), Some(ChainNetwork::Solana(SolanaCluster::Mainnet)));
}

proptest! {
    #[test]
    fn an_amount_is_worth_what_bounds_say(nanos in 0..i64::MAX) {
        let usd = Nano::from_nanos(nanos);
        prop_assert!(TokenAmount::at_most(usd).worth() <= usd);
        prop_assert!(TokenAmount::at_most(usd) <= TokenAmount::at_least(usd));
        let apart = TokenAmount::at_least(usd).units() - TokenAmount::at_most(usd).units();
        prop_assert!(apart <= 1);
    }
}
