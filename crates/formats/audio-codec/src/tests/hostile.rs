//! Truncated, flipped, shuffled and random files: a result without excessive memory.

use std::alloc::System;

use cap::Cap;
use proptest::prelude::*;

use super::{LIMITS, SAMPLES, decode};
use crate::{MonoDecoder, SoundError};

/// Aborts larger allocations to protect the machine; nothing here needs a tenth of it.
const MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, MEMORY_BYTES_MAX);

/// AAC, Ogg and WebM are sequences of packets, so half a file is shorter audio. MP3 is too, but the
/// sample has a first frame with the frame count.
#[test]
fn half_a_file_is_an_error_or_half_the_sound() {
    for (name, file) in SAMPLES {
        let outcome = decode(&file[..file.len() / 2], 16_000).map(|sound| sound.len());
        match name {
            "wav" | "flac" | "mp3" => assert_eq!(outcome, Err(SoundError::Truncated), "{name}"),
            "m4a" | "mp4" => assert!(outcome.is_err(), "{name}: {outcome:?}"),
            _ => assert!(!matches!(outcome, Ok(15_000..)), "{name}: {outcome:?}"),
        }
    }
}

#[test]
fn the_head_alone_is_an_error() {
    for (name, file) in SAMPLES {
        for bytes in [0, 1, 4, 12, 20, 32, 44] {
            let outcome = decode(&file[..bytes], 16_000);
            assert!(outcome.is_err(), "{name} with {bytes} bytes: {outcome:?}");
        }
    }
}

#[test]
fn a_wav_file_with_more_channels_than_can_be_is_refused() {
    let many = SoundError::TooManyChannels { channels: 65_535, channels_max: LIMITS.channels_max };
    let (_, wav) = SAMPLES.into_iter().find(|(name, _)| *name == "wav").unwrap();
    let mut wild = wav.to_vec();
    wild[22..24].fill(0xff);
    assert_eq!(decode(&wild, 16_000), Err(many.clone()));
    // A second format chunk after a valid one.
    let twice = [&wav[..36], &wild[12..]].concat();
    assert_eq!(decode(&twice, 16_000), Err(many));
}

fn drain(file: &[u8]) {
    let memory_before = MEMORY.allocated();
    let mut samples = 0;
    let blocks = MonoDecoder::open(file, 16_000, &LIMITS);
    let memory = MEMORY.allocated().saturating_sub(memory_before);
    assert!(memory < 64 * 1024 * 1024, "{memory} bytes after opening {} bytes", file.len());
    if let Ok(blocks) = blocks {
        for block in blocks {
            samples += block.map_or(0, |it| it.len());
        }
    }
    let samples_max = LIMITS.seconds_max as usize * 16_000 + 100_000;
    assert!(samples < samples_max, "{samples} samples");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn flipped_bytes_never_panic_or_take_memory(
        which in 0..SAMPLES.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut file = SAMPLES[which].1.to_vec();
        for (at, value) in &flips {
            file[at.index(SAMPLES[which].1.len())] = *value;
        }
        drain(&file);
    }

    /// Lengths and counts are in the first bytes of a file.
    #[test]
    fn a_wild_head_never_panics_or_takes_memory(
        which in 0..SAMPLES.len(),
        at in 4_usize..900,
        wild in prop::collection::vec(prop_oneof![Just(0xff_u8), Just(0x7f), Just(0), any::<u8>()], 1..9),
    ) {
        let mut file = SAMPLES[which].1.to_vec();
        for (offset, value) in wild.iter().enumerate() {
            if let Some(byte) = file.get_mut(at + offset) {
                *byte = *value;
            }
        }
        drain(&file);
    }

    #[test]
    fn shuffled_pieces_never_panic_or_take_memory(
        which in 0..SAMPLES.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 2..6),
    ) {
        let file = SAMPLES[which].1;
        let mut cuts: Vec<usize> = cuts.iter().map(|it| it.index(file.len())).collect();
        cuts.sort_unstable();
        let mut shuffled = file[..cuts[0].max(12)].to_vec();
        for pair in cuts.windows(2).rev() {
            shuffled.extend_from_slice(&file[pair[0]..pair[1]]);
        }
        drain(&shuffled);
    }

    #[test]
    fn a_known_mark_and_noise_never_panic_or_take_memory(
        which in 0..SAMPLES.len(),
        noise in prop::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let file = [&SAMPLES[which].1[..12], &noise].concat();
        drain(&file);
    }
}
