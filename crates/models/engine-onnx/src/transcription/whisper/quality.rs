//! Quality checks of decoded text: Whisper invents or repeats text where there is no speech.
//!
//! The measures and thresholds are those of the reference implementation.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Temperature and quality scores of a decoded text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodingScores {
    /// 0 means greedy decoding; above it tokens were sampled.
    pub temperature: f32,
    /// Mean log probability of the tokens.
    pub likelihood: f32,
    /// Compression ratio of the text.
    pub compression: f32,
    /// Probability of no speech.
    pub no_speech: f32,
}

/// The result of the quality checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QualityVerdict {
    Believed,
    /// No speech.
    Noise,
    /// A retry at a higher temperature may be better.
    Doubted,
}

/// Tried in order until a text passes.
pub(super) const TEMPERATURES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
/// Text decoded at a higher temperature is not used as context.
pub(super) const CONTEXT_TEMPERATURE_MAX: f32 = 0.5;

const COMPRESSION_MAX: f32 = 2.4;
const LIKELIHOOD_MIN: f32 = -1.0;
const NO_SPEECH_MAX: f32 = 0.6;

impl DecodingScores {
    /// `is_loop`: repeated tokens had to be removed.
    pub(super) fn check_quality(&self, is_loop: bool) -> QualityVerdict {
        let is_unlikely = self.likelihood < LIKELIHOOD_MIN;
        if is_unlikely && NO_SPEECH_MAX < self.no_speech {
            return QualityVerdict::Noise;
        }
        if is_unlikely || is_loop || COMPRESSION_MAX < self.compression {
            return QualityVerdict::Doubted;
        }
        QualityVerdict::Believed
    }
}

/// Compression ratio of a text with `zlib`.
pub(super) fn compression_ratio(text: &str) -> f32 {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail; if it did, the ratio of 1 would pass the check.
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    let compressed = written.map_or(text.len(), |it| it.len());
    text.len() as f32 / compressed.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(likelihood: f32, compression: f32, no_speech: f32, expected: QualityVerdict) {
        let certainty = DecodingScores { temperature: 0.0, likelihood, compression, no_speech };
        assert_eq!(certainty.check_quality(false), expected, "{certainty:?}");
    }

    #[test]
    fn a_likely_text_is_believed_even_if_there_may_have_been_no_speech() {
        check(-0.3, 1.5, 0.0, QualityVerdict::Believed);
        check(-0.3, 1.5, 0.9, QualityVerdict::Believed);
    }

    #[test]
    fn an_unlikely_or_repetitive_text_is_doubted() {
        check(-1.1, 1.5, 0.1, QualityVerdict::Doubted);
        check(-0.3, 2.5, 0.1, QualityVerdict::Doubted);
        let sure =
            DecodingScores { temperature: 0.0, likelihood: -0.1, compression: 1.0, no_speech: 0.0 };
        assert_eq!(sure.check_quality(true), QualityVerdict::Doubted);
    }

    #[test]
    fn an_unlikely_text_where_nobody_spoke_is_noise() {
        check(-1.1, 1.5, 0.7, QualityVerdict::Noise);
        check(-1.1, 9.0, 0.7, QualityVerdict::Noise);
    }

    /// Python's zlib gives 0.86 and 10. This encoder adds some 16 bytes for a table, so short texts
    /// have a slightly lower ratio; loops are also detected by `cut_loop`.
    #[test]
    fn repetitions_are_seen_by_how_well_they_compress() {
        let told = compression_ratio("The quick brown fox jumps over the lazy dog.");
        assert!((0.75..0.9).contains(&told), "{told}");
        let repeated = compression_ratio(&"Thank you. ".repeat(20));
        assert!((5.0..11.0).contains(&repeated), "{repeated}");
        assert_eq!(compression_ratio(""), 0.0);
    }
}
