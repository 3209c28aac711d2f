//! Tests of transaction hashes: known ones, and those that cannot be computed locally.

use super::*;

#[test]
fn a_node_names_a_transaction_by_its_hash_or_in_an_object() {
    let hash = format!("0x{}", "aB".repeat(32));
    let expected = Some(hash.to_lowercase());
    assert_eq!(parse_announced_hash(&format!("\"{hash}\"")), expected);
    assert_eq!(
        parse_announced_hash(&format!("{{\"transactionHash\":\"{hash}\",\"logs\":[]}}")),
        expected
    );
    for other in ["null", "1", "\"0xab\"", "{}", "[]", "\"zz\""] {
        assert_eq!(parse_announced_hash(other), None, "{other}");
    }
}

/// The signed transaction that EIP-155 gives as its example.
const EIP_155: &str = "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";

#[track_caller]
fn check(params: &str, expected: Option<&str>) {
    let hash = TransactionHash::of_params(params).map(|it| it.to_string());
    assert_eq!(hash.as_deref(), expected);
}

#[test]
fn a_plain_transaction_is_hashed_as_it_is() {
    let hash = "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788";
    check(&format!(r#"["{EIP_155}"]"#), Some(hash));
    check(&format!(r#"[ "{EIP_155}", {{"also":1}} ]"#), Some(hash));
    let upper = EIP_155[2..].to_uppercase();
    check(&format!(r#"["0x{upper}"]"#), Some(hash));
}

#[test]
fn a_blob_transaction_is_hashed_without_its_blobs() {
    let body = list(&[0x01, 0x82, 0x12, 0x34, 0xc0]);
    let without = [&[BLOB_TYPE], body.as_slice()].concat();
    let sidecar = [body.as_slice(), &list(&[0x05; 70]), &list(&[0x06]), &list(&[0x07])].concat();
    let with = [&[BLOB_TYPE], list(&sidecar).as_slice()].concat();
    let expected = TransactionHash(Keccak256::digest(&without).into());
    assert_eq!(TransactionHash::of_raw(&without), Some(expected));
    assert_eq!(TransactionHash::of_raw(&with), Some(expected));
}

#[test]
fn what_is_no_transaction_has_no_hash() {
    for params in ["[]", "{}", "[1]", r#"["0x"]"#, r#"["0xabc"]"#, r#"["0xzz"]"#, r#"["abcd"]"#] {
        check(params, None);
    }
    for raw in [&[BLOB_TYPE][..], &[BLOB_TYPE, 0xc0], &[BLOB_TYPE, 0x80], &[BLOB_TYPE, 0xff, 0xff]]
    {
        assert_eq!(TransactionHash::of_raw(raw), None, "{raw:?}");
    }
    assert_eq!(TransactionHash::of_raw(&vec![0xc0; HASHED_BYTES_MAX + 1]), None);
}

#[test]
fn a_zksync_transaction_is_left_to_the_node_to_name() {
    check(r#"["0x71f865"]"#, None);
}

/// An RLP list of at most 255 bytes.
fn list(payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("short");
    let header = if length < 56 { vec![0xc0 + length] } else { vec![0xf8, length] };
    [header, payload.to_vec()].concat()
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(raw in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
        let _ = TransactionHash::of_raw(&raw);
        let blob = [&[BLOB_TYPE], raw.as_slice()].concat();
        let _ = TransactionHash::of_raw(&blob);
    }
}
