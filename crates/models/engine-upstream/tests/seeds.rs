//! Tests every committed seed of the fuzz targets, and mutations of them, without a fuzzer.

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_event_streams_keep_the_properties() {
    replay("event_stream", properties::event_stream, 13);
}

#[test]
fn seeds_of_workflows_keep_the_properties() {
    replay("workflow", properties::workflow, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn event_streams_with_changed_bytes_keep_the_properties(bytes in changed("event_stream")) {
        properties::event_stream(&bytes);
    }

    #[test]
    fn workflows_with_changed_bytes_keep_the_properties(bytes in changed("workflow")) {
        properties::workflow(&bytes);
    }
}
