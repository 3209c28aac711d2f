//! Gas fees, from the first transaction to the last that the operator's maximum allows.

use proptest::prelude::*;

use super::{GasFees, GasMarket};

const GWEI: u128 = 1_000_000_000;

fn market(base_fee: u128, tip: u128) -> GasMarket {
    GasMarket { base_fee, tip }
}

fn fees(tip: u128, price_max: u128) -> GasFees {
    GasFees { tip, price_max }
}

#[test]
fn a_first_transaction_can_wait_out_rising_fees_within_the_maximum() {
    assert_eq!(GasFees::initial(market(8, 2), 1000), Some(fees(2, 82)));
    assert_eq!(GasFees::initial(market(8, 2), 50), Some(fees(2, 50)));
    assert_eq!(GasFees::initial(market(8, 2), 10), Some(fees(2, 10)));
    assert_eq!(GasFees::initial(market(8, 2), 9), None);
}

#[test]
fn a_replacement_offers_an_eighth_more_of_both() {
    assert_eq!(fees(80, 800).raise(market(1, 1), 10_000), Some(fees(90, 900)));
    assert_eq!(fees(1, 9).raise(market(0, 0), 10_000), Some(fees(2, 11)));
    assert_eq!(fees(0, 0).raise(market(0, 0), 10_000), Some(fees(1, 1)));
}

#[test]
fn a_replacement_follows_a_market_that_rose_by_more() {
    assert_eq!(fees(80, 800).raise(market(500, 200), 10_000), Some(fees(200, 5_200)));
    assert_eq!(fees(80, 800).raise(market(500, 200), 1_000), Some(fees(200, 1_000)));
}

#[test]
fn a_step_that_the_maximum_does_not_leave_room_for_is_not_taken() {
    assert_eq!(fees(80, 800).raise(market(1, 1), 900), Some(fees(90, 900)));
    assert_eq!(fees(80, 800).raise(market(1, 1), 899), None);
    assert_eq!(fees(80, 800).raise(market(890, 1), 900), None);
}

proptest! {
    #[test]
    fn every_replacement_is_an_eighth_dearer_and_none_is_beyond_the_maximum(
        base_fee in 0..100 * GWEI,
        tip in 0..10 * GWEI,
        most in 1..1_000 * GWEI,
    ) {
        let market = market(base_fee, tip);
        let Some(mut fees) = GasFees::initial(market, most) else { return Ok(()) };
        prop_assert!(fees.tip <= fees.price_max && fees.price_max <= most);
        let mut replacements = 0;
        while let Some(raised) = fees.raise(market, most) {
            prop_assert!(fees.tip * 9 <= raised.tip * 8 && fees.tip < raised.tip);
            prop_assert!(fees.price_max * 9 <= raised.price_max * 8);
            prop_assert!(raised.tip <= raised.price_max && raised.price_max <= most);
            fees = raised;
            replacements += 1;
            prop_assert!(replacements < 400, "it ends");
        }
    }
}
