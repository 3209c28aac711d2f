//! The weights of the built-in picture model, as bytes of the program. A crate of their own, so that
//! 41 MB are not compiled again with the code that reads them.

/// The generator: a transformer of 31 million numbers.
pub static GENERATOR: &[u8] = include_bytes!("../weights/dit.int8.safetensors");
/// From latents to pictures.
pub static DECODER: &[u8] = include_bytes!("../weights/decoder.int8.safetensors");
/// From pictures to latents.
pub static ENCODER: &[u8] = include_bytes!("../weights/encoder.int8.safetensors");
