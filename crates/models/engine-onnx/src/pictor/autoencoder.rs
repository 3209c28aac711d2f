//! Converts between images of 256 × 256 pixels and latents of 4 × 32 × 32 numbers.

use super::layers::LayerBuilder;
use super::{LATENT_CHANNELS, PIXELS_SIDE};
use crate::onnx_file::{ElementType, NodeAttribute, OnnxOperator, STANDARD};
use crate::tensors::NamedTensors;

pub(super) const LATENT: &str = "latent";
pub(super) const PICTURE: &str = "picture";
/// The encoder's input: blocks of 2 × 2 pixels as channels.
pub(super) const BLOCKS: &str = "blocks";
pub(super) const BLOCK_CHANNELS: usize = 12;
const BLOCKS_SIDE: usize = PIXELS_SIDE / 2;
const SIZES: [&str; 4] = ["rows", "channels", "height", "width"];
const STEP: &[u64] = &[1, 1];
const HALVE: &[u64] = &[2, 2];

/// Graph from a latent to an image with values from about -1 to 1.
pub(super) fn build_decoder(tensors: &NamedTensors<'_>) -> Result<Vec<u8>, String> {
    let mut layers = LayerBuilder::new(tensors);
    layers.graph.add_input(LATENT, ElementType::Float, &SIZES);
    let mut state = layers.add_convolution("inp", LATENT, [LATENT_CHANNELS, 256], STEP)?;
    for part in 0..3 {
        state = layers.add_residual(&format!("body.{part}"), &state, 256)?;
    }
    for (first, from, residuals) in [(3, 256, 2), (6, 128, 2), (9, 64, 1)] {
        state = add_upsampling(&mut layers, &format!("body.{first}.0"), &state, from)?;
        for part in 1..=residuals {
            state = layers.add_residual(&format!("body.{}", first + part), &state, from / 2)?;
        }
    }
    let state = layers.add_channel_norm("norm", &state, 32)?;
    let state = layers.add_silu(&state);
    let picture = layers.add_convolution("out", &state, [32, 3], STEP)?;
    Ok(layers.finish(&picture, PICTURE, &SIZES, "decoder"))
}

/// Doubles width and height, and halves the channels.
fn add_upsampling(
    layers: &mut LayerBuilder<'_>,
    name: &str,
    input: &str,
    channels: usize,
) -> Result<String, String> {
    let wide = layers.add_convolution(name, input, [channels, 2 * channels], STEP)?;
    let attributes = [NodeAttribute::Integer("blocksize", 2), NodeAttribute::Text("mode", "CRD")];
    Ok(layers.add_node(OnnxOperator(STANDARD, "DepthToSpace"), &[&wide], &attributes))
}

/// Graph from an image in blocks to a latent of unit variance.
pub(super) fn build_encoder(tensors: &NamedTensors<'_>) -> Result<Vec<u8>, String> {
    let mut layers = LayerBuilder::new(tensors);
    layers.graph.add_input(BLOCKS, ElementType::Float, &SIZES);
    let state = layers.add_convolution("inp", BLOCKS, [BLOCK_CHANNELS, 64], STEP)?;
    let state = layers.add_residual("body.0", &state, 64)?;
    let state = layers.add_convolution("body.1", &state, [64, 128], HALVE)?;
    let state = layers.add_residual("body.2", &state, 128)?;
    let state = layers.add_convolution("body.3", &state, [128, 256], HALVE)?;
    let state = layers.add_residual("body.4", &state, 256)?;
    let state = layers.add_residual("body.5", &state, 256)?;
    let state = layers.add_channel_norm("norm", &state, 256)?;
    let state = layers.add_silu(&state);
    let state = layers.add_convolution("out", &state, [256, LATENT_CHANNELS], STEP)?;
    for name in ["mean", "std"] {
        let values = tensors.read_matrix(name, &[LATENT_CHANNELS])?.values;
        layers.graph.add_constant(name, &[LATENT_CHANNELS, 1, 1], &values);
    }
    let centred = layers.add_standard("Sub", &[&state, "mean"]);
    let latent = layers.add_standard("Div", &[&centred, "std"]);
    Ok(layers.finish(&latent, LATENT, &SIZES, "encoder"))
}

/// Converts RGB bytes to the encoder's input: per colour channel, the four pixels of each block.
pub(super) fn to_blocks(rgb: &[u8]) -> Vec<f32> {
    let mut blocks = Vec::with_capacity(rgb.len());
    for channel in 0..3 {
        for (down, right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for at in 0..BLOCKS_SIDE * BLOCKS_SIDE {
                let (row, column) = (at / BLOCKS_SIDE * 2 + down, at % BLOCKS_SIDE * 2 + right);
                let byte = rgb[(row * PIXELS_SIDE + column) * 3 + channel];
                blocks.push(f32::from(byte) / 127.5 - 1.0);
            }
        }
    }
    blocks
}

/// Converts the decoder's output to RGB bytes.
pub(super) fn to_pixels(picture: &[f32]) -> Vec<u8> {
    let plane = PIXELS_SIDE * PIXELS_SIDE;
    let byte = |number: f32| ((number.clamp(-1.0, 1.0) + 1.0) * 127.5).round() as u8;
    (0..plane)
        .flat_map(|at| (0..3).map(move |channel| channel * plane + at))
        .map(|at| byte(picture[at]))
        .collect()
}
