//! Music by rules: words become a style, a tempo and a key, these become notes, and notes become
//! sound.
//!
//! There is no model here that was trained on anybody's music, and nothing is sung. The same words
//! and the same seed give the same piece, sample for sample.
//!
//! - [`Plan`] is what the words of a prompt come to: `prompt` reads them, `style` has what there is
//!   to choose from.
//! - `arrange` writes the notes of a plan, by the rules of `theory` and `melody`.
//! - `synth` plays them: each instrument is a few lines of arithmetic. `master` makes a recording
//!   of it.

mod arrange;
mod drums;
mod master;
mod melody;
mod prompt;
mod random;
mod score;
mod style;
mod synth;
mod theory;

use media::{EncodeError, Encoder, Format};

pub use prompt::{Plan, plan};
pub use style::StyleName;
pub use synth::Instrument;
pub use theory::Mode;

/// The shortest and the longest piece, in seconds.
pub const SECONDS_MIN: u32 = 5;
pub const SECONDS_MAX: u32 = 240;
pub const SAMPLE_RATE: u32 = 44_100;

/// The samples of a piece, left and right in turn.
pub fn render(plan: &Plan) -> Vec<f32> {
    master::record(plan, &arrange::score(plan))
}

/// A piece as a file: WAV, FLAC or MP3.
pub fn file(plan: &Plan, format: Format) -> Result<Vec<u8>, EncodeError> {
    Encoder::stereo_file(format, SAMPLE_RATE, &render(plan))
}

#[cfg(test)]
mod tests;
