//! Every format decodes to the same audio.

use super::{LIMITS, SAMPLES, WAV, decode, level, likeness};
use crate::{DecodeLimits, EncoderFormat, MonoDecoder, SoundError, encode_file};

const RATE: u32 = 16_000;

#[track_caller]
fn check_error(file: &[u8], limits: &DecodeLimits, expected: SoundError) {
    let outcome = MonoDecoder::open(file, RATE, limits)
        .and_then(|mut blocks| blocks.try_for_each(|block| block.map(drop)));
    assert_eq!(outcome, Err(expected));
}

#[test]
fn every_format_becomes_the_sound_that_was_encoded() {
    let original = decode(WAV, RATE).unwrap();
    assert_eq!(original.len(), 24_000);
    for (name, file) in SAMPLES {
        let sound = decode(file, RATE).unwrap();
        let likeness = likeness(&original, &sound);
        assert!(0.88 < likeness, "{name}: likeness {likeness}");
        let loudness = level(&sound) / level(&original);
        assert!((0.9..1.1).contains(&loudness), "{name}: {loudness} times as loud");
        let missing = 24_000_i64 - sound.len() as i64;
        assert!(missing.abs() < 2_400, "{name}: {} samples", sound.len());
    }
}

#[test]
fn the_rate_asked_for_is_the_rate_given() {
    for rate in [8_000, 16_000, 22_050, 24_000, 44_100, 48_000] {
        let sound = decode(WAV, rate).unwrap();
        assert_eq!(sound.len(), rate as usize * 3 / 2, "at {rate}");
    }
}

#[test]
fn a_tone_keeps_its_pitch_and_place_through_resampling() {
    let tone = |rate: u32| -> Vec<f32> {
        let step = std::f32::consts::TAU * 440.0 / rate as f32;
        (0..rate).map(|index| (index as f32 * step).sin() * 0.5).collect()
    };
    let file = encode_file(EncoderFormat::Wav, 44_100, &tone(44_100)).unwrap();
    let sound = decode(&file, RATE).unwrap();
    let expected = tone(RATE);
    assert_eq!(sound.len(), expected.len());
    let middle = 500..expected.len() - 500;
    let worst = middle.map(|at| (sound[at] - expected[at]).abs()).fold(0.0, f32::max);
    assert!(worst < 0.04, "off by {worst}");
}

#[test]
fn a_sound_comes_in_blocks() {
    let blocks: Vec<usize> =
        MonoDecoder::open(WAV, RATE, &LIMITS).unwrap().map(|block| block.unwrap().len()).collect();
    assert!(2 < blocks.len(), "{blocks:?}");
    assert!(blocks.iter().all(|it| *it < 16_000), "{blocks:?}");
}

#[test]
fn a_wav_from_a_pipe_has_no_length_and_is_read_to_its_end() {
    let mut encoder = crate::AudioEncoder::new(EncoderFormat::Wav, RATE).unwrap();
    let mut file = encoder.push(&[0.25; 16_000]).unwrap();
    file.extend(encoder.finish().unwrap());
    assert_eq!(decode(&file, RATE).unwrap().len(), 16_000);
}

#[test]
fn limits_are_kept() {
    let bytes_max = WAV.len() - 1;
    let too_large = SoundError::TooLarge { bytes: WAV.len(), bytes_max };
    check_error(WAV, &DecodeLimits { bytes_max, ..LIMITS }, too_large);
    let too_long = SoundError::TooLong { seconds_max: 1 };
    check_error(WAV, &DecodeLimits { seconds_max: 1, ..LIMITS }, too_long);
    let too_many = SoundError::TooManyChannels { channels: 1, channels_max: 0 };
    check_error(WAV, &DecodeLimits { channels_max: 0, ..LIMITS }, too_many);
}

#[test]
fn numbers_that_are_none_are_silence() {
    let mut file = encode_file(EncoderFormat::Wav, RATE, &[0.5; 64]).unwrap();
    // The same header for 32-bit floats, and NaN samples.
    file.truncate(44);
    file[20] = 3;
    file[32] = 4;
    file[34] = 32;
    file[28..32].copy_from_slice(&(RATE * 4).to_le_bytes());
    file.extend(
        [f32::NAN, f32::INFINITY, 0.5].iter().flat_map(|it| it.to_le_bytes()).cycle().take(128),
    );
    let sound = decode(&file, RATE).unwrap();
    assert!(sound.iter().all(|it| it.is_finite()), "{sound:?}");
    assert!(sound.contains(&0.5), "{sound:?}");
}
