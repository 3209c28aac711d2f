//! Every committed seed of the fuzz targets, without a fuzzer; and bytes near them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a property that does not hold fails its test"
)]

mod properties;

use std::path::Path;

use proptest::prelude::*;

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).expect("the target has seeds");
    let mut seeds: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.expect("the folder can be listed").path();
            let bytes = std::fs::read(&path).expect("the seed can be read");
            (path.display().to_string(), bytes)
        })
        .collect();
    seeds.sort();
    seeds
}

#[track_caller]
fn replay(target: &str, property: fn(&[u8]) -> bool, readable: usize) {
    let mut count = 0;
    for (name, seed) in seeds(target) {
        let outcome = std::panic::catch_unwind(|| property(&seed));
        let Ok(holds) = outcome else { panic!("{name} breaks a property") };
        count += usize::from(holds);
    }
    assert_eq!(count, readable, "seeds that can be read");
}

fn changed(target: &str, pick: prop::sample::Index, changes: Changes) -> Vec<u8> {
    let seeds = seeds(target);
    let (_, mut bytes) = seeds[pick.index(seeds.len())].clone();
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = byte;
    }
    bytes
}

type Changes = Vec<(prop::sample::Index, u8)>;

fn changes() -> impl Strategy<Value = Changes> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)
}

#[test]
fn seeds_of_pictures_keep_the_properties() {
    replay("picture_file", properties::picture_file, 11);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pictures_with_changed_bytes_keep_the_properties(
        pick in any::<prop::sample::Index>(),
        changes in changes(),
    ) {
        properties::picture_file(&changed("picture_file", pick, changes));
    }
}
