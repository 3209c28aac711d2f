//! Tests of stretches of speech and repeated tokens.

use proptest::prelude::*;

use super::decoder::cut_loop;
use super::moonshine;
use super::stretches::{SpeechStretch, StretchLimits, StretchSplitter};
use super::{SAMPLE_RATE, whisper};

/// A tone: loud it stands for speech, quiet for background noise.
fn tone(seconds: f32, amplitude: f32) -> Vec<f32> {
    let samples = (seconds * SAMPLE_RATE as f32) as usize;
    (0..samples).map(|index| amplitude * (index as f32 * 0.1).sin()).collect()
}

fn split(pace: &'static StretchLimits, sound: &[f32]) -> Vec<SpeechStretch> {
    let mut splitter = StretchSplitter::new(pace);
    let mut stretches = Vec::new();
    for block in sound.chunks(1_234) {
        stretches.extend(splitter.push(block));
    }
    let heard_s = splitter.heard_s();
    assert!((heard_s - sound.len() as f64 / f64::from(SAMPLE_RATE)).abs() < 1e-6, "{heard_s}");
    stretches.extend(splitter.finish());
    stretches
}

#[track_caller]
fn check(pace: &'static StretchLimits, sound: &[f32], expected: &[(f64, f64)]) {
    let found: Vec<(f64, f64)> = split(pace, sound)
        .iter()
        .map(|it| (it.start_s, it.start_s + it.samples.len() as f64 / f64::from(SAMPLE_RATE)))
        .collect();
    let near = |(one, other): (&(f64, f64), &(f64, f64))| {
        (one.0 - other.0).abs() < 0.35 && (one.1 - other.1).abs() < 0.35
    };
    let is_near = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(is_near, "{found:?} and not {expected:?}");
}

#[test]
fn silence_is_left_out() {
    check(&moonshine::PACE, &tone(10.0, 0.0), &[]);
    let sound = [tone(3.0, 0.0), tone(2.0, 0.3), tone(5.0, 0.0), tone(1.0, 0.3)].concat();
    check(&moonshine::PACE, &sound, &[(3.0, 5.0), (10.0, 11.0)]);
}

#[test]
fn a_room_that_is_not_silent_is_left_out_too() {
    let sound = [tone(4.0, 0.01), tone(2.0, 0.3), tone(4.0, 0.01), tone(2.0, 0.3)].concat();
    check(&moonshine::PACE, &sound, &[(4.0, 6.0), (10.0, 12.0)]);
}

#[test]
fn a_short_pause_ends_a_long_stretch_only() {
    let sound = [tone(2.0, 0.3), tone(0.5, 0.0), tone(5.0, 0.3), tone(0.5, 0.0), tone(2.0, 0.3)];
    check(&moonshine::PACE, &sound.concat(), &[(0.0, 7.8), (7.8, 10.0)]);
    check(&whisper::PACE, &sound.concat(), &[(0.0, 10.0)]);
}

#[test]
fn speech_without_a_pause_is_cut_where_it_is_quietest() {
    let sound = [tone(20.0, 0.3), tone(0.2, 0.05), tone(20.0, 0.3)].concat();
    check(&moonshine::PACE, &sound, &[(0.0, 20.1), (20.1, 40.2)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_sound_is_lost_or_given_twice(
        parts in prop::collection::vec((0.05_f32..12.0, prop_oneof![Just(0.0_f32), Just(0.3)]), 1..8),
    ) {
        let sound: Vec<f32> =
            parts.iter().flat_map(|(seconds, amplitude)| tone(*seconds, *amplitude)).collect();
        let loud = |samples: &[f32]| samples.iter().filter(|it| 0.1 < it.abs()).count();
        for pace in [&moonshine::PACE, &whisper::PACE] {
            let stretches = split(pace, &sound);
            let longest = (pace.hard_s * SAMPLE_RATE as f32) as usize + 320;
            prop_assert!(stretches.iter().all(|it| it.samples.len() <= longest));
            let kept: usize = stretches.iter().map(|it| loud(&it.samples)).sum();
            // A frame that is quiet for most of its length counts as quiet.
            let lost = loud(&sound).abs_diff(kept);
            prop_assert!(lost < 320 * parts.len(), "{lost} samples");
            for stretch in &stretches {
                let start = (stretch.start_s * f64::from(SAMPLE_RATE)).round() as usize;
                let original = &sound[start.min(sound.len())..];
                let same = stretch.samples.iter().zip(original).all(|(a, b)| a == b);
                prop_assert!(same, "a stretch at {} is not the sound there", stretch.start_s);
            }
        }
    }
}

#[track_caller]
fn check_loop(tokens: &[i64], expected: &[i64]) {
    let mut cut = tokens.to_vec();
    let is_cut = cut_loop(&mut cut);
    assert_eq!((is_cut, cut.as_slice()), (tokens != expected, expected));
}

#[test]
fn a_text_that_repeats_itself_is_cut() {
    check_loop(&[5; 12], &[5]);
    check_loop(&[5; 11], &[5; 11]);
    check_loop(&[1, 9, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3], &[1, 9, 4, 2, 3]);
    check_loop(&[4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 8], &[4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 8]);
    let varied: Vec<i64> = (0..200).collect();
    check_loop(&varied, &varied);
}
