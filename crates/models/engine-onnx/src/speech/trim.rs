//! Trims silence before and after speech. The models leave nearly half a second at both ends, which
//! would be heard as a late start and as gaps between sentences.

use super::SAMPLE_RATE_HZ;

/// The audio without silence at its ends, except for a margin so that no breath is cut off.
pub(super) fn trim_silence(sound: &[f32]) -> &[f32] {
    let is_heard = |it: &f32| SILENCE < it.abs();
    let Some(first) = sound.iter().position(is_heard) else { return &[] };
    let last = sound.iter().rposition(is_heard).unwrap_or(first);
    let start = first.saturating_sub(MARGIN_SAMPLES);
    let end = (last + MARGIN_SAMPLES).min(sound.len());
    &sound[start..end]
}

/// 46 dB below full scale, above the models' own noise.
const SILENCE: f32 = 0.005;
const MARGIN_SAMPLES: usize = SAMPLE_RATE_HZ as usize / 25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_cut_down_to_a_margin() {
        let silence = vec![0.001; 10_000];
        let sound = [silence.as_slice(), &[0.5, -0.5], &silence].concat();
        assert_eq!(trim_silence(&sound).len(), 2 * MARGIN_SAMPLES + 1);
        assert_eq!(trim_silence(&silence), &[0.0; 0]);
        assert_eq!(trim_silence(&[0.5; 3]), &[0.5; 3]);
    }
}
