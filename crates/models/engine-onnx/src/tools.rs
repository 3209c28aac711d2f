//! Image tools: upscaling, background removal, erasing and classification.
//!
//! Images are given as decoded pixels. Networks process parts of a fixed size, so that their memory
//! does not grow with the image.

pub mod cut_out;
pub mod erase;
mod resample;
pub mod safety;
mod tiles;
pub mod upscale;

use std::ops::Range;

use crate::runtime::RuntimeError;

/// Bytes per pixel: red, green, blue, alpha.
pub const CHANNELS: usize = 4;

/// Pixels that are resampled at once; each takes four bytes meanwhile.
const BAND_PIXELS_MAX: usize = 1 << 20;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSides {
    pub width: usize,
    pub height: usize,
}

/// Decoded pixels in row-major order.
#[derive(Clone, PartialEq, Eq)]
pub struct RgbaPicture {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl RgbaPicture {
    /// Returns `None` if the number of bytes does not match the size, or if there are no pixels.
    pub fn new(width: usize, height: usize, rgba: Vec<u8>) -> Option<RgbaPicture> {
        let bytes = width.checked_mul(height)?.checked_mul(CHANNELS)?;
        (bytes == rgba.len() && 0 < bytes).then_some(RgbaPicture { width, height, rgba })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    pub fn into_rgba(self) -> Vec<u8> {
        self.rgba
    }

    fn row(&self, row: usize) -> &[[u8; CHANNELS]] {
        let bytes = self.width * CHANNELS;
        self.rgba[row * bytes..][..bytes].as_chunks().0
    }

    fn row_mut(&mut self, row: usize) -> &mut [[u8; CHANNELS]] {
        let bytes = self.width * CHANNELS;
        self.rgba[row * bytes..][..bytes].as_chunks_mut().0
    }
}

impl std::fmt::Debug for RgbaPicture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a picture of {} × {} pixels", self.width, self.height)
    }
}

/// Errors of image tools.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("the weights cannot be read: {0}")]
    Weights(String),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the mask has {mask_width} × {mask_height} pixels, and the picture {width} × {height}")]
    MaskSize { mask_width: usize, mask_height: usize, width: usize, height: usize },
    #[error("no pixel of the mask is transparent: there is nothing to erase")]
    NothingToErase,
    #[error("all of the mask is transparent: the model needs a part that stays")]
    NothingToKeep,
    #[error("the network's answer has another form than its kind of network gives")]
    Answer,
    #[error("the request for the image was dropped")]
    Cancelled,
}

impl From<ort::Error> for ToolError {
    fn from(error: ort::Error) -> ToolError {
        ToolError::Runtime(RuntimeError::Run(error))
    }
}

/// Splits rows into bands that are processed one after another, so that wide images take no more
/// memory.
fn split_bands(rows: Range<usize>, width: usize) -> impl Iterator<Item = Range<usize>> {
    let count = (BAND_PIXELS_MAX / width.max(1)).max(1);
    rows.clone().step_by(count).map(move |top| top..(top + count).min(rows.end))
}

/// Converts a value from 0 to 1 to a byte.
fn to_byte(value: f32) -> u8 {
    (value * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_every_row_once_within_their_bound() {
        for (rows, width) in
            [(0..0, 5), (3..4, 1), (7..6000, 5760), (0..64, 518_000), (2..9, 1 << 24)]
        {
            let bands: Vec<Range<usize>> = split_bands(rows.clone(), width).collect();
            assert!(bands.iter().all(|it| it.len() == 1 || it.len() * width <= BAND_PIXELS_MAX));
            assert!(bands.into_iter().flatten().eq(rows));
        }
    }
}
