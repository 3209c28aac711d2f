//! The committed seeds of the fuzz targets, for tests without a fuzzer: every seed as it is, and
//! mutations of it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a property that does not hold fails its test"
)]

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

/// Every seed of a target with its path, in order.
fn all(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds").join(target);
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

/// Runs the property on every seed. The property returns true if it could parse the seed;
/// `readable` is the expected number of such seeds, so that a set of refused seeds does not pass.
#[track_caller]
pub fn replay(target: &str, property: fn(&[u8]) -> bool, readable: usize) {
    let mut count = 0;
    for (name, seed) in all(target) {
        let outcome = std::panic::catch_unwind(|| property(&seed));
        let Ok(could_read) = outcome else { panic!("{name} breaks a property") };
        count += usize::from(could_read);
    }
    assert_eq!(count, readable, "seeds that can be read");
}

/// A seed of the target with a few bytes changed.
pub fn changed(target: &str) -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<Index>(), any::<u8>()), 1..8);
    (any_of(target), changes).prop_map(|(mut bytes, changes)| {
        for (position, byte) in changes {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        bytes
    })
}

/// A seed of the target with an inserted text that matches the expression, never before the first
/// byte.
pub fn with_piece(target: &str, expression: &'static str) -> impl Strategy<Value = Vec<u8>> {
    (any_of(target), any::<Index>(), expression).prop_map(|(mut bytes, position, piece)| {
        let position = 1 + position.index(bytes.len() - 1);
        bytes.splice(position..position, piece.bytes());
        bytes
    })
}

fn any_of(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds: Vec<Vec<u8>> = all(target).into_iter().map(|(_, bytes)| bytes).collect();
    prop::sample::select(seeds)
}
