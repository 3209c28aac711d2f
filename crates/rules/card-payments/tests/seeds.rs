//! Runs the properties on every committed fuzz seed and on mutations of them, without a fuzzer.

#![expect(clippy::panic, reason = "a property that does not hold fails its test")]

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_webhooks_keep_the_properties() {
    replay("stripe_webhook", properties::stripe_webhook, 4);
}

#[test]
fn seeds_of_payments_keep_the_properties() {
    replay("stripe_payment", properties::stripe_payment, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn webhooks_with_changed_bytes_keep_the_properties(bytes in changed("stripe_webhook")) {
        properties::stripe_webhook(&bytes);
    }

    #[test]
    fn payments_with_changed_bytes_keep_the_properties(bytes in changed("stripe_payment")) {
        properties::stripe_payment(&bytes);
    }
}
