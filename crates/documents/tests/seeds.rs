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
        let Ok(has_text) = outcome else { panic!("{name} breaks a property") };
        count += usize::from(has_text);
    }
    assert_eq!(count, readable, "seeds that have a text");
}

#[test]
fn seeds_of_whole_files_keep_the_properties() {
    replay("document_file", properties::document_file, 15);
}

#[test]
fn seeds_of_parts_keep_the_properties() {
    replay("document_part", properties::document_part, 5);
}

#[test]
fn seeds_of_pieces_of_pdf_files_keep_the_properties() {
    replay("document_pdf", properties::document_pdf, 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn files_with_changed_bytes_keep_the_properties(
        pick in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let seeds = seeds("document_file");
        let (_, mut bytes) = seeds[pick.index(seeds.len())].clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        properties::document_file(&bytes);
    }

    #[test]
    fn parts_with_odd_pieces_keep_the_properties(
        pick in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        piece in "(<[a-z:]{0,6} ?(t:c=\"[0-9]{0,20}\")?/?>|</[a-z]{0,4}>|&[#a-z0-9]{0,8};?|<!\\[CDATA\\[|\\]\\]>|<!--|\\PC){1,6}",
    ) {
        let seeds = seeds("document_part");
        let (_, mut bytes) = seeds[pick.index(seeds.len())].clone();
        let place = 1 + place.index(bytes.len() - 1);
        bytes.splice(place..place, piece.bytes());
        properties::document_part(&bytes);
    }

    #[test]
    fn pieces_of_pdf_files_with_odd_words_keep_the_properties(
        pick in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        piece in "( ?(<<|>>|\\[|\\]|[(]|[)]|<|>|/[A-Z]|-?[0-9]{0,12}[.]?[0-9]|[0-9] 0 R|Tj|TJ|Tm|q|Q|Do|BT|cm|ID|obj|stream|%)){1,8} ?",
    ) {
        let seeds = seeds("document_pdf");
        let (_, mut bytes) = seeds[pick.index(seeds.len())].clone();
        let place = 1 + place.index(bytes.len() - 1);
        bytes.splice(place..place, piece.bytes());
        properties::document_pdf(&bytes);
    }
}
