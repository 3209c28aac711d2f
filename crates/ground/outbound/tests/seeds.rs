//! Runs the properties on every committed fuzz seed and on mutations of them, without a fuzzer.

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_answers_keep_the_properties() {
    replay("http_answer", properties::http_answer, 5);
}

#[test]
fn seeds_of_forms_keep_the_properties() {
    replay("outgoing_form", properties::form, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn answers_with_changed_bytes_keep_the_properties(bytes in changed("http_answer")) {
        properties::http_answer(&bytes);
    }

    #[test]
    fn forms_with_changed_bytes_keep_the_properties(bytes in changed("outgoing_form")) {
        properties::form(&bytes);
    }
}
