//! The events that count as a payment on the EVM chain.

use alloy_primitives::{U256, hex};
use serde_json::{Value, json};

use super::world::{Payer, evm_terms};
use crate::EvmAddress;
use crate::evm::{TransactionReceipt, TransferAuthorization, authorization_used_topics};

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

#[track_caller]
fn check(logs: Value, expected: Option<u64>) {
    check_status("0x1", logs, expected);
}

#[track_caller]
fn check_status(status: &str, logs: Value, expected: Option<u64>) {
    let receipt = TransactionReceipt::parse(&receipt(status, logs)).unwrap();
    let moved = receipt.moved_amount(&evm_terms(), &Payer::new(1).authorization());
    assert_eq!(moved.map(|amount| amount.units()), expected);
}

fn receipt(status: &str, logs: Value) -> Value {
    json!({
        "status": status,
        "transactionHash": hex::encode_prefixed([3; 32]),
        "blockNumber": "0x1a",
        "logs": logs,
        "gasUsed": "0x5208",
    })
}

fn used(authorization: &TransferAuthorization) -> Value {
    let topics = authorization_used_topics(authorization).map(hex::encode_prefixed);
    json!({ "address": evm_terms().asset.to_string(), "topics": topics, "data": "0x" })
}

fn transfer(from: EvmAddress, to: EvmAddress, units: u64) -> Value {
    let topic =
        |address: EvmAddress| format!("0x{}{}", "00".repeat(12), hex::encode(address.bytes()));
    json!({
        "address": evm_terms().asset.to_string(),
        "topics": [TRANSFER, topic(from), topic(to)],
        "data": hex::encode_prefixed(U256::from(units).to_be_bytes::<32>()),
    })
}

fn mine() -> TransferAuthorization {
    Payer::new(1).authorization()
}

fn to_us(units: u64) -> Value {
    transfer(mine().from, evm_terms().pay_to, units)
}

#[test]
fn the_authorization_and_its_transfer_are_a_payment() {
    check(json!([used(&mine()), to_us(5_000_000)]), Some(5_000_000));
}

#[test]
fn what_actually_moved_counts_and_not_what_was_signed() {
    check(json!([used(&mine()), to_us(4_999_000)]), Some(4_999_000));
}

#[test]
fn a_reverted_transaction_paid_nothing() {
    check_status("0x0", json!([used(&mine()), to_us(5_000_000)]), None);
}

#[test]
fn a_transfer_without_the_authorization_is_someone_elses_business() {
    check(json!([to_us(5_000_000)]), None);
    check(json!([to_us(5_000_000), used(&mine())]), None);
}

#[test]
fn a_cancelled_authorization_paid_nothing() {
    let mut cancelled = used(&mine());
    // keccak256("AuthorizationCanceled(address,bytes32)")
    cancelled["topics"][0] =
        json!("0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81");
    check(json!([cancelled, to_us(5_000_000)]), None);
}

#[test]
fn a_nonce_used_up_for_oneself_is_not_paid_by_another_authorization() {
    let mut second = mine();
    second.nonce = [0xcd; 32];
    let to_oneself = transfer(mine().from, mine().from, 0);
    let logs = json!([used(&mine()), to_oneself, used(&second), to_us(5_000_000)]);
    check(logs.clone(), None);
    let receipt = TransactionReceipt::parse(&receipt("0x1", logs)).unwrap();
    let moved = receipt.moved_amount(&evm_terms(), &second).unwrap();
    assert_eq!(moved.units(), 5_000_000);
}

#[test]
fn several_payments_in_one_transaction_are_told_apart() {
    let mut other = Payer::new(2).authorization();
    other.nonce = mine().nonce;
    let theirs = transfer(other.from, evm_terms().pay_to, 9_000_000);
    check(json!([used(&other), theirs, used(&mine()), to_us(5_000_000)]), Some(5_000_000));
}

#[test]
fn another_contracts_logs_do_not_count() {
    let mut fake_use = used(&mine());
    fake_use["address"] = json!(Payer::new(4).address().to_string());
    let mut fake_transfer = to_us(5_000_000);
    fake_transfer["address"] = fake_use["address"].clone();
    check(json!([fake_use, fake_transfer]), None);
    check(json!([used(&mine()), fake_transfer]), None);
    check(json!([used(&mine()), fake_transfer, to_us(5_000_000)]), Some(5_000_000));
}

#[test]
fn what_is_not_a_receipt_is_not_read() {
    let whole = receipt("0x1", json!([]));
    assert_eq!(TransactionReceipt::parse(&whole).unwrap().block_number, 26);
    for field in ["status", "transactionHash", "blockNumber", "logs"] {
        for wrong in [json!(null), json!("0x"), json!("0xzz"), json!(-1), json!("0x+1")] {
            let mut broken = whole.clone();
            broken[field] = wrong;
            assert_eq!(TransactionReceipt::parse(&broken), None, "{broken}");
        }
    }
    assert_eq!(TransactionReceipt::parse(&json!(null)), None);
}
