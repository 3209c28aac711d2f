//! Runs every committed seed of the fuzz targets, without a fuzzer.

#![expect(clippy::panic, reason = "a property that does not hold fails its test")]

mod properties;

use fuzz_seeds::replay;

#[test]
fn seeds_of_payment_headers_keep_the_properties() {
    replay("payment_header", properties::payment_header, 4);
}

#[test]
fn seeds_of_payment_payloads_keep_the_properties() {
    replay("payment_payload", properties::payment_payload, 5);
}

#[test]
fn seeds_of_sign_in_headers_keep_the_properties() {
    replay("sign_in_header", properties::sign_in_header, 6);
}

#[test]
fn seeds_of_sign_in_messages_keep_the_properties() {
    replay("sign_in_message", properties::sign_in_message, 1);
}

#[test]
fn seeds_of_solana_transactions_keep_the_properties() {
    replay("solana_transaction", properties::solana_transaction, 2);
}

#[test]
fn seeds_of_web3_keys_keep_the_properties() {
    replay("web3_key", properties::web3_key, 2);
}
