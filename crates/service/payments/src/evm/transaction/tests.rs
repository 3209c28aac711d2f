//! Transactions are the same, byte for byte, as those of PyPI's `eth-account` 0.14.

use alloy_primitives::{address, hex};
use k256::ecdsa::SigningKey;

use super::{ContractCall, GasFees};

#[track_caller]
fn check(sequence: u64, raw: &str, hash: &str) {
    let key = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
    let call = ContractCall {
        chain_id: 8453,
        sequence,
        fees: GasFees { tip: 1_000_000, price_max: 30_000_000 },
        gas_max: 95_000,
        to: address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        input: hex!("e3ee160e00ff").to_vec(),
    };
    let signed = call.sign(&SigningKey::from_slice(&key).unwrap()).unwrap();
    assert_eq!(hex::encode(&signed.raw), raw);
    assert_eq!(ContractCall::read(&signed.raw), Some(call));
    assert_eq!(hex::encode(signed.hash), hash);
}

#[test]
fn a_first_transaction_has_the_number_zero() {
    check(
        0,
        "02f87282210580830f42408401c9c3808301731894833589fcd6edb6e08f4c7c32d4f71b54bda029138086e3\
         ee160e00ffc001a01ff3922d98d8db5cbcc5eee35c00038f83c55c59e977da9951fc73661bb50f25a0770c10\
         d1f6c52f8b6f7a82c459b407e176ceac0d6ed9ffc9aa7b6ca5be7b1fa6",
        "d5368dceafbe9eb339f0896cd0f097437e733b50735a85ea5048b48548d8f827",
    );
}

#[test]
fn a_number_of_two_bytes_makes_the_list_longer() {
    check(
        300,
        "02f87482210582012c830f42408401c9c3808301731894833589fcd6edb6e08f4c7c32d4f71b54bda0291380\
         86e3ee160e00ffc001a002a4a483a655807c0b2e79f87246c62fd8871221b58798de10bc8fdb7fa0465aa005\
         eb2af7c226b167571240524c16fc96dd4e97d3a81b9b23ffe3356e5dd166eb",
        "021b7112ecb7b652d13c59edacd48c00601b5edc0a847f06348256b2b50d88b2",
    );
}

#[test]
fn a_signature_that_begins_with_a_zero_is_written_without_it() {
    check(
        761,
        "02f8738221058202f9830f42408401c9c3808301731894833589fcd6edb6e08f4c7c32d4f71b54bda0291380\
         86e3ee160e00ffc0019f1c4b91a5afa74c877de3ed91eb46498aec2683b3c9c7fb38f5d8c30d3862a1a057da\
         4026bf34aa5b4ccf979ac79b6c570d97521c513057bfdf68a2ec5bdba8e7",
        "e5a055d8b5ec8a1367ae8e26de3dd420731796a3616c2efa29708ddd719f5ecd",
    );
}

#[test]
fn what_is_no_transaction_of_ours_is_not_read_as_one() {
    for raw in [&[][..], &[2], &[2, 0xc0], &[1, 0xc0], &[2, 0xf8], &[2, 0xc1, 0x80], &[0xff; 40]] {
        assert_eq!(ContractCall::read(raw), None, "{raw:?}");
    }
}
