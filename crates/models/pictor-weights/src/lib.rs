//! The weights of the built-in image model, embedded as bytes. In a separate crate, so that 41 MB
//! are not compiled again with the code that reads them.

/// The generator: a transformer with 31 million parameters.
pub static GENERATOR: &[u8] = include_bytes!("../weights/dit.int8.safetensors");
/// The decoder, from latents to images.
pub static DECODER: &[u8] = include_bytes!("../weights/decoder.int8.safetensors");
/// The encoder, from images to latents.
pub static ENCODER: &[u8] = include_bytes!("../weights/encoder.int8.safetensors");
