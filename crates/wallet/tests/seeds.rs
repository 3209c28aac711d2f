//! Every committed seed of the fuzz targets, without a fuzzer.

#![expect(clippy::panic, reason = "a property that does not hold fails its test")]

mod properties;

use std::path::Path;

#[track_caller]
fn replay(target: &str, property: fn(&[u8]) -> bool, verified: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut holding = 0;
    for entry in std::fs::read_dir(&folder).expect("the target has seeds") {
        let path = entry.expect("the folder can be listed").path();
        let seed = std::fs::read(&path).expect("the seed can be read");
        let outcome = std::panic::catch_unwind(|| property(&seed));
        let Ok(holds) = outcome else { panic!("{} breaks a property", path.display()) };
        holding += usize::from(holds);
    }
    assert_eq!(holding, verified, "seeds whose signature holds");
}

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
