//! The requirements that clients see.

use expect_test::expect;
use serde_json::json;

use super::world::{BASE, terms};
use crate::TokenAmount;

#[test]
fn the_requirements_are_what_clients_expect_and_base_comes_first() {
    let accepts = serde_json::to_string_pretty(&json!(terms().list_requirements())).unwrap();
    expect![[r#"
        [
          {
            "scheme": "exact",
            "network": "eip155:8453",
            "amount": "5000000",
            "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "payTo": "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
            "maxTimeoutSeconds": 300,
            "extra": {
              "name": "USD Coin",
              "version": "2"
            }
          },
          {
            "scheme": "exact",
            "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
            "amount": "5000000",
            "asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            "payTo": "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse",
            "maxTimeoutSeconds": 300,
            "extra": {
              "feePayer": "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"
            }
          }
        ]"#]]
    .assert_eq(&accepts);
}

#[test]
fn only_what_is_configured_is_offered() {
    let mut terms = terms();
    terms.evm = None;
    let networks: Vec<_> = terms.list_requirements().into_iter().map(|it| it.network).collect();
    assert_eq!(networks, ["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]);
    terms.solana = None;
    assert_eq!(terms.list_requirements(), []);
    assert_eq!(terms.build_requirement(BASE, TokenAmount::default()), None);
}
