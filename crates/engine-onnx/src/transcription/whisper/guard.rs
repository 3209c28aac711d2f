//! Whether a text is to be believed: Whisper invents, and repeats itself, where it hears nothing.
//!
//! The measures and their limits are those of the reference implementation.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// How a text was come by, and what speaks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// 0 took the likeliest token each time; above it tokens were drawn.
    pub temperature: f32,
    /// The mean logarithm of the likelihood of the tokens.
    pub likelihood: f32,
    /// How many times shorter the text gets when it is compressed.
    pub compression: f32,
    /// How likely it is that nobody spoke.
    pub no_speech: f32,
}

/// What is to be done with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Believed,
    /// Nobody spoke.
    Noise,
    /// Another try, at a higher temperature, may do better.
    Doubted,
}

/// Tried one after the other until a text is believed.
pub(super) const TEMPERATURES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
/// What was said at a higher one is no help with what follows.
pub(super) const CONTEXT_TEMPERATURE_MAX: f32 = 0.5;

const COMPRESSION_MAX: f32 = 2.4;
const LIKELIHOOD_MIN: f32 = -1.0;
const NO_SPEECH_MAX: f32 = 0.6;

impl Certainty {
    /// `is_loop`: the text had to be cut because it began to repeat itself.
    pub(super) fn verdict(&self, is_loop: bool) -> Verdict {
        let is_unlikely = self.likelihood < LIKELIHOOD_MIN;
        if is_unlikely && NO_SPEECH_MAX < self.no_speech {
            return Verdict::Noise;
        }
        if is_unlikely || is_loop || COMPRESSION_MAX < self.compression {
            return Verdict::Doubted;
        }
        Verdict::Believed
    }
}

/// The bytes of a text for each byte that `zlib` makes of them.
pub(super) fn compression(text: &str) -> f32 {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail; what it would leave is a text that nobody doubts.
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    let compressed = written.map_or(text.len(), |it| it.len());
    text.len() as f32 / compressed.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(likelihood: f32, compression: f32, no_speech: f32, expected: Verdict) {
        let certainty = Certainty { temperature: 0.0, likelihood, compression, no_speech };
        assert_eq!(certainty.verdict(false), expected, "{certainty:?}");
    }

    #[test]
    fn a_likely_text_is_believed_even_if_there_may_have_been_no_speech() {
        check(-0.3, 1.5, 0.0, Verdict::Believed);
        check(-0.3, 1.5, 0.9, Verdict::Believed);
    }

    #[test]
    fn an_unlikely_or_repetitive_text_is_doubted() {
        check(-1.1, 1.5, 0.1, Verdict::Doubted);
        check(-0.3, 2.5, 0.1, Verdict::Doubted);
        let sure =
            Certainty { temperature: 0.0, likelihood: -0.1, compression: 1.0, no_speech: 0.0 };
        assert_eq!(sure.verdict(true), Verdict::Doubted);
    }

    #[test]
    fn an_unlikely_text_where_nobody_spoke_is_noise() {
        check(-1.1, 1.5, 0.7, Verdict::Noise);
        check(-1.1, 9.0, 0.7, Verdict::Noise);
    }

    /// Python's zlib gives 0.86 and 10. The encoder here spends some 16 bytes more on a table, so
    /// that short texts look a little less repetitive; loops are cut besides.
    #[test]
    fn repetitions_are_seen_by_how_well_they_compress() {
        let told = compression("The quick brown fox jumps over the lazy dog.");
        assert!((0.75..0.9).contains(&told), "{told}");
        let repeated = compression(&"Thank you. ".repeat(20));
        assert!((5.0..11.0).contains(&repeated), "{repeated}");
        assert_eq!(compression(""), 0.0);
    }
}
