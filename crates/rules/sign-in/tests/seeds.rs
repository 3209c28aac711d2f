//! Runs the properties on every committed fuzz seed and on mutations of them, without a fuzzer.

#![expect(clippy::panic, reason = "a property that does not hold fails its test")]

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_id_tokens_keep_the_properties() {
    replay("id_token", properties::id_token, 3);
}

#[test]
fn seeds_of_provider_documents_keep_the_properties() {
    replay("provider_document", properties::provider_document, 4);
}

#[test]
fn seeds_of_callbacks_keep_the_properties() {
    replay("sign_in_callback", properties::sign_in_callback, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn id_tokens_with_changed_bytes_keep_the_properties(bytes in changed("id_token")) {
        properties::id_token(&bytes);
    }

    #[test]
    fn documents_with_changed_bytes_keep_the_properties(bytes in changed("provider_document")) {
        properties::provider_document(&bytes);
    }

    #[test]
    fn callbacks_with_changed_bytes_keep_the_properties(bytes in changed("sign_in_callback")) {
        properties::sign_in_callback(&bytes);
    }
}
