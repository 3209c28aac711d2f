//! Adult-content classification of whole images: open_nsfw.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::value::TensorRef;

use super::resample::{ChannelSource, ChannelWindow, FilterKernel};
use super::{PictureSides, RgbaPicture, ToolError};
use crate::runtime::OnnxRuntime;

/// Images are scaled to a square of this side, regardless of their aspect ratio.
const SIDE: usize = 256;
/// Side of the centre crop that the network sees.
const CROP_SIDE: usize = 224;
const EDGE: usize = (SIDE - CROP_SIDE) / 2;
/// Mean of the training images. The channel order is blue, green, red.
const MEAN: [f32; 3] = [104.0, 117.0, 123.0];
const INPUT: &str = "input:0";

/// The loaded network.
pub struct NsfwClassifier {
    session: Mutex<Session>,
}

impl NsfwClassifier {
    /// `open-nsfw.onnx`.
    pub fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<NsfwClassifier, ToolError> {
        Ok(NsfwClassifier {
            session: Mutex::new(runtime.create_session(&folder.join("open-nsfw.onnx"))?),
        })
    }

    /// The probability, from 0 to 1, that the image has adult content.
    pub fn score(&self, picture: &RgbaPicture) -> Result<f32, ToolError> {
        let seen = prepare_input(picture);
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(ort::inputs! {
            INPUT => TensorRef::from_array_view(([1, CROP_SIDE, CROP_SIDE, 3], seen.as_slice()))?,
        })?;
        let scores = outputs[0].try_extract_tensor::<f32>()?.1;
        // Index 0 is the probability that the image is harmless.
        scores.get(1).copied().ok_or(ToolError::Answer)
    }
}

/// The network's input: the centre of the image, with transparency on white.
fn prepare_input(picture: &RgbaPicture) -> Vec<f32> {
    let mut values = vec![0.0; CROP_SIDE * CROP_SIDE * 3];
    for (place, mean) in MEAN.into_iter().enumerate() {
        let channel = 2 - place;
        let read = |row: usize, into: &mut [f32]| {
            for (value, pixel) in into.iter_mut().zip(picture.row(row)) {
                let alpha = f32::from(pixel[3]) / 255.0;
                *value = f32::from(pixel[channel]) * alpha + 255.0 * (1.0 - alpha);
            }
        };
        let window = ChannelWindow::whole(picture.width, picture.height);
        let whole = ChannelSource { width: picture.width, height: picture.height, read };
        let sides = PictureSides { width: SIDE, height: SIDE };
        let whole = whole.resample(window, sides, FilterKernel::Triangle);
        let rows = whole.chunks_exact(SIDE).skip(EDGE).take(CROP_SIDE);
        let middle = rows.flat_map(|row| &row[EDGE..EDGE + CROP_SIDE]);
        for (pixel, value) in values.chunks_exact_mut(3).zip(middle) {
            pixel[place] = value - mean;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blue_comes_first_and_what_is_transparent_is_white() {
        // A filter's weights sum to 1 except for rounding.
        let first = |picture: &RgbaPicture, expected: [f32; 3]| {
            let mut both = prepare_input(picture).into_iter().zip(expected);
            assert!(both.all(|(one, other)| (one - other).abs() < 1e-3), "{expected:?}");
        };
        let picture = RgbaPicture::new(300, 200, [10, 20, 30, 255].repeat(300 * 200)).unwrap();
        first(&picture, [30.0 - 104.0, 20.0 - 117.0, 10.0 - 123.0]);
        let nothing = RgbaPicture::new(300, 200, vec![0; 300 * 200 * 4]).unwrap();
        first(&nothing, [255.0 - 104.0, 255.0 - 117.0, 255.0 - 123.0]);
    }
}
