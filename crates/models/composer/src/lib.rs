//! Rule-based music: a prompt becomes a style, a tempo and a key, these become notes, and notes
//! become audio.
//!
//! No model is involved that was trained on existing music, and there are no vocals. The same
//! prompt and seed give the same piece, sample for sample.
//!
//! - [`SongPlan`] holds the parameters: `prompt` derives them from a prompt, `style` defines the
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

use audio_codec::{AudioEncoder, EncodeError, EncoderFormat};

pub use prompt::{SongPlan, plan_song};
pub use style::StyleName;
pub use synth::SynthInstrument;
pub use theory::ScaleMode;

/// Minimum and maximum length of a piece, in seconds.
pub const SECONDS_MIN: u32 = 5;
pub const SECONDS_MAX: u32 = 240;
pub const SAMPLE_RATE: u32 = 44_100;

/// Renders a piece as interleaved stereo samples.
pub fn render_samples(plan: &SongPlan) -> Vec<f32> {
    master::render_score(plan, &arrange::compose_score(plan))
}

/// Renders a piece as a WAV, FLAC or MP3 file.
pub fn render_file(plan: &SongPlan, format: EncoderFormat) -> Result<Vec<u8>, EncodeError> {
    AudioEncoder::stereo_file(format, SAMPLE_RATE, &render_samples(plan))
}

#[cfg(test)]
mod tests;
