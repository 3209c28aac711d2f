//! Background removal: U²-Net detects the foreground.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ort::session::Session;
use ort::value::TensorRef;

use super::resample::{ChannelSource, ChannelWindow, FilterKernel};
use super::{PictureSides, RgbaPicture, ToolError, split_bands, to_byte};
use crate::runtime::OnnxRuntime;

/// Side of the network's input in pixels.
const SIDE: usize = 320;
const INPUT: &str = "input.1";
/// Mean and deviation of the training images, in red, green and blue.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];
/// Scores within this distance of 0 and 1 are rounded to them; otherwise a veil of the background
/// stays and the foreground is slightly transparent.
const UNSURE: f32 = 0.1;
/// Minimum range to which scores are stretched, so that an image without foreground is not
/// amplified.
const RANGE_MIN: f32 = 0.3;

/// The loaded network.
pub struct BackgroundRemover {
    session: Mutex<Session>,
}

impl BackgroundRemover {
    /// `u2netp.onnx`.
    pub fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<BackgroundRemover, ToolError> {
        Ok(BackgroundRemover {
            session: Mutex::new(runtime.create_session(&folder.join("u2netp.onnx"))?),
        })
    }

    /// Makes the background transparent.
    pub fn remove_background(
        &self,
        mut picture: RgbaPicture,
        is_wanted: impl Fn() -> bool,
    ) -> Result<RgbaPicture, ToolError> {
        let mut session = self.lock_session();
        if !is_wanted() {
            return Err(ToolError::Cancelled);
        }
        let seen = prepare_input(&picture);
        let outputs = session.run(ort::inputs! {
            INPUT => TensorRef::from_array_view(([1, 3, SIDE, SIDE], seen.as_slice()))?,
        })?;
        let found = stretch_scores(outputs[0].try_extract_tensor::<f32>()?.1);
        apply_mask(&mut picture, &found);
        Ok(picture)
    }

    /// Ignores poisoning: a session keeps no state between runs.
    fn lock_session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The network's input: channel by channel, normalised.
fn prepare_input(picture: &RgbaPicture) -> Vec<f32> {
    let mut values = Vec::with_capacity(3 * SIDE * SIDE);
    for channel in 0..3 {
        let read = |row: usize, into: &mut [f32]| {
            let pixels = picture.row(row).iter();
            into.iter_mut().zip(pixels).for_each(|(it, pixel)| *it = f32::from(pixel[channel]));
        };
        let values_of = ChannelSource { width: picture.width, height: picture.height, read };
        let window = ChannelWindow::whole(picture.width, picture.height);
        let sides = PictureSides { width: SIDE, height: SIDE };
        let resampled = values_of.resample(window, sides, FilterKernel::Lanczos);
        values.extend(resampled.into_iter().map(|it| it.clamp(0.0, 255.0)));
    }
    let brightest = values.iter().copied().fold(1.0, f32::max);
    for (channel, values) in values.chunks_exact_mut(SIDE * SIDE).enumerate() {
        for value in values {
            *value = (*value / brightest - MEAN[channel]) / DEVIATION[channel];
        }
    }
    values
}

/// Stretches scores to the range from 0 (background) to 1 (foreground).
fn stretch_scores(found: &[f32]) -> Vec<f32> {
    let least = found.iter().copied().fold(f32::INFINITY, f32::min);
    let most = found.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let range = (most - least).max(RANGE_MIN);
    let settled = |it: &f32| ((it - least) / range - UNSURE) / (1.0 - 2.0 * UNSURE);
    found.iter().map(settled).collect()
}

fn apply_mask(picture: &mut RgbaPicture, found: &[f32]) {
    let (width, height) = (picture.width, picture.height);
    let scale = SIDE as f32 / height as f32;
    for rows in split_bands(0..height, width) {
        let read =
            |row: usize, into: &mut [f32]| into.copy_from_slice(&found[row * SIDE..][..SIDE]);
        let window = ChannelWindow {
            top: rows.start as f32 * scale,
            height: rows.len() as f32 * scale,
            ..ChannelWindow::whole(SIDE, SIDE)
        };
        let mask = ChannelSource { width: SIDE, height: SIDE, read };
        let sides = PictureSides { width, height: rows.len() };
        let mask = mask.resample(window, sides, FilterKernel::Lanczos);
        for (row, mask) in rows.zip(mask.chunks_exact(width)) {
            for (pixel, kept) in picture.row_mut(row).iter_mut().zip(mask) {
                let alpha = to_byte(kept.clamp(0.0, 1.0) * f32::from(pixel[3]) / 255.0);
                // The colours of transparent pixels are removed too.
                *pixel = match (alpha, *pixel) {
                    (0, _) => [0; 4],
                    (alpha, [red, green, blue, _]) => [red, green, blue, alpha],
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize) -> RgbaPicture {
        RgbaPicture::new(width, height, vec![200; width * height * 4]).unwrap()
    }

    #[test]
    fn what_is_found_is_kept_and_the_rest_is_gone() {
        let mut picture = grey(700, 3200);
        let found: Vec<f32> =
            (0..SIDE * SIDE).map(|at| if at % SIDE < SIDE / 2 { 1.0 } else { 0.0 }).collect();
        apply_mask(&mut picture, &found);
        // Rows of three bands.
        for row in [0, 1497, 1498, 2995, 2996, 3199] {
            let row = picture.row(row);
            assert_eq!((row[10], row[340]), ([200; 4], [200; 4]));
            assert_eq!((row[360], row[699]), ([0; 4], [0; 4]));
        }
    }

    #[test]
    fn where_nothing_stands_out_nothing_is_kept() {
        let found: Vec<f32> = (0..100).map(|at| at as f32 * 0.0002).collect();
        assert!(stretch_scores(&found).iter().all(|it| *it < 0.0));
        let found: Vec<f32> = (0..100).map(|at| at as f32 * 0.01).collect();
        assert!(1.0 <= *stretch_scores(&found).last().unwrap());
    }

    #[test]
    fn the_brightest_pixel_counts_as_white() {
        let (dark, bright) =
            (grey(64, 64), RgbaPicture::new(64, 64, vec![255; 64 * 64 * 4]).unwrap());
        let (dark, bright) = (prepare_input(&dark), prepare_input(&bright));
        assert!(dark.iter().zip(&bright).all(|(one, other)| (one - other).abs() < 1e-3));
    }
}
