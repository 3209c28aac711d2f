//! Tests of the rate that applies.

use std::collections::BTreeMap;

use money::{Price, PriceUnits};

use super::*;

fn rate(usd: &str) -> UnitRate {
    UnitRate::at_par(Price::parse(usd, PriceUnits::Million).expect("tests write valid prices"))
}

fn rates(input: &str) -> TokenRates {
    TokenRates {
        input: rate(input),
        output: rate("9"),
        cache_input: None,
        cache_write: None,
        cache_write_1h: None,
    }
}

#[test]
fn extended_rates_apply_to_the_whole_request_beyond_the_threshold_only() {
    let extended = ExtendedPrice { above_context_tokens: 1000, rates: rates("2") };
    let price = TokenPrice { base: rates("1"), extended: Some(extended) };
    assert_eq!(price.rates(0), &rates("1"));
    assert_eq!(price.rates(1000), &rates("1"));
    assert_eq!(price.rates(1001), &rates("2"));
    let plain = TokenPrice { extended: None, ..price };
    assert_eq!(plain.rates(u64::MAX), &rates("1"));
}

#[test]
fn a_resolution_without_rates_of_its_own_has_the_general_ones() {
    let general = VideoRates { silent: rate("1"), with_audio: rate("2") };
    let special = VideoRates { silent: rate("3"), with_audio: rate("4") };
    let price = VideoPrice {
        per_generation: None,
        per_second: Some(general),
        resolutions: BTreeMap::from([("1080p".to_owned(), special)]),
    };
    assert_eq!(price.rates(Some("1080p")), Some(special));
    assert_eq!(price.rates(Some("720p")), Some(general));
    assert_eq!(price.rates(None), Some(general));
    let only_whole = VideoPrice { per_second: None, ..price };
    assert_eq!(only_whole.rates(None), None);
}
