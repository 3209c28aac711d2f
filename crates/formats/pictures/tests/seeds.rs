//! Tests every committed seed of the fuzz targets, and mutations of them, without a fuzzer.

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_pictures_keep_the_properties() {
    replay("picture_file", properties::picture_file, 11);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pictures_with_changed_bytes_keep_the_properties(bytes in changed("picture_file")) {
        properties::picture_file(&bytes);
    }
}
