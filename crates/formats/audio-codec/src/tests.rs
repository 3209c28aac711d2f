//! Tests of every format in both directions, and of invalid files.

mod decoding;
mod encoding;
mod hostile;

use crate::{DecodeLimits, MonoDecoder, SoundError};

/// The first 1.5 s of a sentence, at 16 kHz; the others are encodings of it.
const WAV: &[u8] = include_bytes!("../samples/speech.wav");
const SAMPLES: [(&str, &[u8]); 9] = [
    ("wav", WAV),
    ("flac", include_bytes!("../samples/speech.flac")),
    ("m4a", include_bytes!("../samples/speech.m4a")),
    ("aac", include_bytes!("../samples/speech.aac")),
    ("mp4", include_bytes!("../samples/speech.mp4")),
    ("mp3", include_bytes!("../samples/speech.mp3")),
    ("ogg", include_bytes!("../samples/speech.ogg")),
    ("oga", include_bytes!("../samples/speech.oga")),
    ("webm", include_bytes!("../samples/speech.webm")),
];
const LIMITS: DecodeLimits =
    DecodeLimits { bytes_max: 1_000_000, seconds_max: 60, channels_max: 8 };

fn decode(file: &[u8], sample_rate: u32) -> Result<Vec<f32>, SoundError> {
    let mut sound = Vec::new();
    for block in MonoDecoder::open(file, sample_rate, &LIMITS)? {
        sound.extend(block?);
    }
    Ok(sound)
}

/// The maximum correlation of two signals, shifted by up to 0.2 s.
fn likeness(one: &[f32], other: &[f32]) -> f32 {
    const LAG_SAMPLES: usize = 3_000;
    const WINDOW_SAMPLES: usize = 4_000;
    let fixed = &one[LAG_SAMPLES..][..WINDOW_SAMPLES];
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let at_lag = |lag: usize| {
        let moved = &other[lag..][..WINDOW_SAMPLES];
        dot(fixed, moved) / (dot(fixed, fixed) * dot(moved, moved)).sqrt().max(f32::MIN_POSITIVE)
    };
    (0..2 * LAG_SAMPLES).step_by(3).map(at_lag).fold(-1.0, f32::max)
}

/// RMS level.
fn level(sound: &[f32]) -> f32 {
    (sound.iter().map(|it| it * it).sum::<f32>() / sound.len() as f32).sqrt()
}
