//! Time stretching without a change of pitch (WSOLA): overlapping slices are moved together or
//! apart, each to the position that best fits the previous one.

/// Changes the speed: 2 halves the length.
pub(super) fn change_speed(sound: &[f32], speed: f32) -> Vec<f32> {
    if sound.len() < SLICE + SEARCH || speed <= 0.0 {
        return sound.to_vec();
    }
    let window: Vec<f32> = (0..SLICE).map(hann_weight).collect();
    let slices = scale_length(sound.len(), 1.0 / speed) / HOP;
    let mut stretched = vec![0.0; slices * HOP + SLICE];
    let mut natural = 0;
    for slice in 0..slices {
        let wanted = scale_length(slice * HOP, speed).min(sound.len() - SLICE);
        let start = if slice == 0 { 0 } else { find_best_position(sound, natural, wanted) };
        let target = &mut stretched[slice * HOP..slice * HOP + SLICE];
        for ((out, sample), weight) in target.iter_mut().zip(&sound[start..]).zip(&window) {
            *out += sample * weight;
        }
        // The natural continuation of this slice without stretching.
        natural = (start + HOP).min(sound.len() - SLICE);
    }
    stretched.truncate(slices * HOP);
    stretched
}

/// 30 ms, longer than a period of the lowest voice. Slices overlap by half, so that their windows
/// sum to 1.
const SLICE: usize = 720;
const HOP: usize = SLICE / 2;
/// Maximum offset of a slice from its nominal position: 10 ms, a period of a low voice.
const SEARCH: usize = 240;

/// The position near `wanted` that is most similar to the natural continuation.
fn find_best_position(sound: &[f32], natural: usize, wanted: usize) -> usize {
    let template = &sound[natural..natural + SLICE];
    let from = wanted.saturating_sub(SEARCH);
    let to = (wanted + SEARCH).min(sound.len() - SLICE);
    let mut best = (wanted, f32::MIN);
    for start in from..=to {
        let candidate = &sound[start..start + SLICE];
        let (product, energy) = measure_similarity(template, candidate);
        let likeness = product / (energy + ENERGY_MIN).sqrt();
        if best.1 < likeness {
            best = (start, likeness);
        }
    }
    best.0
}

/// Prevents silence from matching everything.
const ENERGY_MIN: f32 = 1e-6;

/// Similarity of every second sample, which is accurate enough.
fn measure_similarity(template: &[f32], candidate: &[f32]) -> (f32, f32) {
    let pairs = template.iter().zip(candidate).step_by(2);
    pairs.fold((0.0, 0.0), |(product, energy), (a, b)| (product + a * b, energy + b * b))
}

#[expect(clippy::cast_precision_loss, reason = "positions inside of a slice are small")]
fn hann_weight(position: usize) -> f32 {
    let turn = position as f32 / SLICE as f32;
    0.5 - 0.5 * (std::f32::consts::TAU * turn).cos()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a sound of minutes is far below 2^53"
)]
fn scale_length(samples: usize, factor: f32) -> usize {
    (samples as f64 * f64::from(factor)).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hertz: f32) -> Vec<f32> {
        let turn = std::f32::consts::TAU * hertz / 24_000.0;
        (0..24_000).map(|it| (turn * it as f32).sin() * 0.5).collect()
    }

    /// Estimates the pitch by zero crossings.
    fn hertz(sound: &[f32]) -> f32 {
        let crossings = sound.windows(2).filter(|it| it[0] < 0.0 && 0.0 <= it[1]).count();
        crossings as f32 * 24_000.0 / sound.len() as f32
    }

    #[track_caller]
    fn check(speed: f32) {
        let stretched = change_speed(&tone(220.0), speed);
        let expected = 24_000.0 / speed;
        assert!((stretched.len() as f32 - expected).abs() < 400.0, "{} samples", stretched.len());
        let inner = &stretched[HOP..stretched.len() - HOP];
        assert!((hertz(inner) - 220.0).abs() < 6.0, "{} Hz", hertz(inner));
        let loudest = inner.iter().fold(0.0f32, |loudest, it| loudest.max(it.abs()));
        assert!((0.45..0.55).contains(&loudest), "amplitude {loudest}");
    }

    #[test]
    fn the_pitch_stays_when_the_length_changes() {
        for speed in [0.5, 0.8, 1.3, 2.0] {
            check(speed);
        }
    }

    #[test]
    fn what_is_too_short_to_stretch_stays() {
        assert_eq!(change_speed(&[0.1; 100], 2.0), [0.1; 100]);
    }
}
