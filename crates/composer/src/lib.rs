//! Rule-based music: a prompt becomes a style, a tempo and a key, these become notes, and notes
//! become audio.
//!
//! No model is involved that was trained on existing music, and there are no vocals. The same
//! prompt and seed give the same piece, sample for sample.
//!
//! - [`Plan`] holds the parameters: `prompt` derives them from a prompt, `style` defines the
//!   available styles.
//! - `arrange` writes the notes of a plan, by the rules of `theory` and `melody`.
//! - `synth` renders them: each instrument is a few lines of arithmetic. `master` mixes them.

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

/// Minimum and maximum length of a piece, in seconds.
pub const SECONDS_MIN: u32 = 5;
pub const SECONDS_MAX: u32 = 240;
pub const SAMPLE_RATE: u32 = 44_100;

/// Renders a piece as interleaved stereo samples.
pub fn render(plan: &Plan) -> Vec<f32> {
    master::record(plan, &arrange::score(plan))
}

/// Renders a piece as a WAV, FLAC or MP3 file.
pub fn file(plan: &Plan, format: Format) -> Result<Vec<u8>, EncodeError> {
    Encoder::stereo_file(format, SAMPLE_RATE, &render(plan))
}

#[cfg(test)]
mod tests;
