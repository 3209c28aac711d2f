//! One key in each of the supported formats.

use wallet::SolanaAddress;

use super::parse_signing_key;

const BASE58: &str =
    "99eUso3aSbE9tqGSTXzo3TLfKb9RkMTURrHKQ1K7Zh3StnzFNUx8FKCPPPPpR479qsw5zv2WNBKmgiz7WqgAJfM";

fn address(text: &str) -> Option<String> {
    let key = parse_signing_key(text).ok()?;
    Some(SolanaAddress::from_bytes(key.verifying_key().to_bytes()).to_string())
}

#[test]
fn a_key_is_the_same_in_every_form() {
    let expected = Some("GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB".to_owned());
    assert_eq!(address(BASE58), expected);
    assert_eq!(address(&format!("{BASE58}\n")), expected);
    assert_eq!(address(&format!("hex:{}", "07".repeat(32))), expected);
    let keypair = parse_signing_key(BASE58).unwrap().to_keypair_bytes();
    assert_eq!(address(&format!("{keypair:?}")), expected);
}

#[test]
fn a_mistyped_key_is_refused_and_not_repeated() {
    let mut keypair = parse_signing_key(BASE58).unwrap().to_keypair_bytes();
    keypair[40] ^= 1;
    let mistyped = format!("{keypair:?}");
    let short = "hex:07".to_owned();
    for text in [mistyped, short, String::new(), BASE58[1..].to_owned(), "[1,2]".to_owned()] {
        let problem = parse_signing_key(&text).unwrap_err();
        assert!(text.is_empty() || !problem.contains(&text), "{problem}");
    }
}
