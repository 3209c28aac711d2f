//! Tests every committed seed of the fuzz targets, and mutations of them, without a fuzzer.

mod properties;

use fuzz_seeds::{changed, replay};
use proptest::prelude::*;

#[test]
fn seeds_of_sounds_keep_the_properties() {
    replay("sound_file", properties::sound_file, 14);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sounds_with_changed_bytes_keep_the_properties(bytes in changed("sound_file")) {
        properties::sound_file(&bytes);
    }
}
