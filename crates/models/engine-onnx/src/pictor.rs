//! Images from text: our own small model for icons, emoji and simple scenes.
//!
//! MiniLM encodes the prompt. The generator moves noise along a flow to a latent that fits the
//! prompt, in equal steps, and the decoder turns it into an image of 256 × 256 pixels. The weights
//! are embedded in the binary; `pictor/` in the repository's root contains their training code.

mod autoencoder;
mod flow;
mod generator;
mod image_sequence;
mod layers;
mod prompt;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ort::session::Session;
use ort::value::TensorRef;
use pictor_weights::{DECODER, ENCODER, GENERATOR};

use crate::embedding::EmbeddingError;
use crate::noise::NoiseGenerator;
use crate::runtime::{OnnxRuntime, RuntimeError};
use crate::tensors::NamedTensors;
use flow::{FlowSchedule, GuidedFlow, latent_of, patches_of};
use generator::VelocityGenerator;
pub use image_sequence::{ImageLatent, ImageSequence, PROMPTS_MAX};
use prompt::PromptEncoder;

/// Width and height of images in pixels.
pub const PIXELS_SIDE: usize = 256;
pub const STEPS_MAX: u32 = 50;
pub const STEPS_DEFAULT: u32 = 8;
pub const GUIDANCE_DEFAULT: f32 = 4.0;

const LATENT_CHANNELS: usize = 4;
const LATENT_SIDE: usize = 32;
const LATENT: usize = LATENT_CHANNELS * LATENT_SIDE * LATENT_SIDE;
const PATCHES_SIDE: usize = LATENT_SIDE / 2;
const PATCHES: usize = PATCHES_SIDE * PATCHES_SIDE;
/// Numbers per patch of 2 × 2 latent positions.
const PATCH: usize = 4 * LATENT_CHANNELS;
/// Longer prompts are truncated.
const TEXT_TOKENS: usize = 32;
const TEXT_WIDTH: usize = 384;

/// A prompt with its sampling parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PaintRequest<'a> {
    pub prompt: &'a str,
    /// Content to avoid.
    pub negative_prompt: &'a str,
    /// The same seed gives the same image.
    pub seed: u64,
    pub steps: u32,
    /// Strength of classifier-free guidance: adherence to the prompt.
    pub guidance: f32,
    /// An image to start from.
    pub start: Option<StartImage<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartImage<'a> {
    /// RGB bytes of [`PIXELS_SIDE`]² pixels.
    pub rgb: &'a [u8],
    /// From 0 (keeps the image) to 1 (discards it).
    pub strength: f32,
}

#[derive(Debug, thiserror::Error)]
pub enum PictorError {
    #[error("the weights cannot be read: {0}")]
    Weights(String),
    #[error(transparent)]
    Text(#[from] EmbeddingError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("steps must be from 1 to {STEPS_MAX}")]
    Steps,
    #[error("a picture to start from must have {PIXELS_SIDE} × {PIXELS_SIDE} pixels")]
    Start,
    #[error("a walk has from 1 to {PROMPTS_MAX} prompts and at least one picture")]
    Walk,
    #[error("the request for the image was dropped")]
    Cancelled,
}

impl From<ort::Error> for PictorError {
    fn from(error: ort::Error) -> PictorError {
        PictorError::Runtime(RuntimeError::Run(error))
    }
}

/// The loaded model. It draws one image at a time.
pub struct PictorModel {
    parts: Mutex<PictorSessions>,
}

struct PictorSessions {
    reader: PromptEncoder,
    generator: VelocityGenerator,
    decoder: Session,
    encoder: Session,
}

impl PictorModel {
    /// `text_folder` contains the files of all-MiniLM-L6-v2.
    pub fn load(runtime: &OnnxRuntime, text_folder: &Path) -> Result<PictorModel, PictorError> {
        let session = |bytes: &[u8], build: fn(&NamedTensors<'_>) -> Result<Vec<u8>, String>| {
            let tensors = NamedTensors::parse(bytes).map_err(PictorError::Weights)?;
            let graph = build(&tensors).map_err(PictorError::Weights)?;
            Ok::<Session, PictorError>(runtime.session_builder()?.commit_from_memory(&graph)?)
        };
        let parts = PictorSessions {
            reader: PromptEncoder::load(runtime, text_folder, GENERATOR)?,
            generator: VelocityGenerator::load(runtime, GENERATOR)?,
            decoder: session(DECODER, autoencoder::build_decoder)?,
            encoder: session(ENCODER, autoencoder::build_encoder)?,
        };
        Ok(PictorModel { parts: Mutex::new(parts) })
    }

    /// Draws an image as RGB bytes. `is_wanted` is called before each step; false cancels.
    pub fn paint(
        &self,
        wish: &PaintRequest<'_>,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Vec<u8>, PictorError> {
        self.paint_from(wish, &generate_noise(wish.seed), is_wanted)
    }

    /// As [`PictorModel::paint`] with given noise, for comparison with another implementation.
    pub fn paint_from(
        &self,
        wish: &PaintRequest<'_>,
        noise: &[f32],
        is_wanted: impl Fn() -> bool,
    ) -> Result<Vec<u8>, PictorError> {
        if !(1..=STEPS_MAX).contains(&wish.steps) {
            return Err(PictorError::Steps);
        }
        let mut parts = self.lock_sessions();
        let mut from = patches_of(noise);
        let mut strength = 1.0;
        if let Some(start) = wish.start {
            if start.rgb.len() != 3 * PIXELS_SIDE * PIXELS_SIDE {
                return Err(PictorError::Start);
            }
            strength = start.strength.clamp(0.0, 1.0);
            let kept = patches_of(&parts.encode_image(start.rgb)?);
            for (number, kept) in from.iter_mut().zip(kept) {
                *number = (1.0 - strength) * kept + strength * *number;
            }
        }
        let condition = parts.reader.encode_prompt(wish.prompt)?;
        let other = parts.reader.encode_prompt(wish.negative_prompt)?;
        let mut flow =
            GuidedFlow { towards: vec![(1.0, condition)], other, guidance: wish.guidance };
        let schedule = FlowSchedule { start: strength, steps: wish.steps };
        let moved = flow.integrate_steps(&mut parts.generator, from, schedule, is_wanted)?;
        parts.decode_latent(&latent_of(&moved))
    }

    /// Ignores poisoning: sessions keep no state between runs.
    fn lock_sessions(&self) -> MutexGuard<'_, PictorSessions> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PictorSessions {
    fn encode_image(&mut self, rgb: &[u8]) -> Result<Vec<f32>, PictorError> {
        let blocks = autoencoder::to_blocks(rgb);
        let side = PIXELS_SIDE / 2;
        let shape = [1, autoencoder::BLOCK_CHANNELS, side, side];
        let outputs = self.encoder.run(ort::inputs! {
            autoencoder::BLOCKS => TensorRef::from_array_view((shape, blocks.as_slice()))?,
        })?;
        Ok(outputs[autoencoder::LATENT].try_extract_tensor::<f32>()?.1.to_vec())
    }

    fn decode_latent(&mut self, latent: &[f32]) -> Result<Vec<u8>, PictorError> {
        let shape = [1, LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE];
        let outputs = self.decoder.run(ort::inputs! {
            autoencoder::LATENT => TensorRef::from_array_view((shape, latent))?,
        })?;
        let picture = outputs[autoencoder::PICTURE].try_extract_tensor::<f32>()?.1;
        Ok(autoencoder::to_pixels(picture))
    }
}

fn generate_noise(seed: u64) -> Vec<f32> {
    let mut noise = NoiseGenerator::new(seed);
    (0..LATENT / 2).flat_map(|_| <[f32; 2]>::from(noise.normal_pair())).collect()
}
