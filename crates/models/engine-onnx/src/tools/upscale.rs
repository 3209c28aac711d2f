//! Upscaling by Real-ESRGAN, tile by tile.

mod compact;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ort::session::Session;
use ort::value::TensorRef;

use super::resample::{ChannelSource, ChannelWindow, FilterKernel};
use super::tiles::{TileDivision, TileSpan, mirror_index};
use super::{CHANNELS, PictureSides, RgbaPicture, ToolError, to_byte};
use crate::runtime::OnnxRuntime;

/// A larger image is reduced before the network sees it. Only an image that is barely enlarged can
/// be this large, and each pixel would cost time without benefit.
const WORK_PIXELS_MAX: usize = 1 << 22;
/// If the result exceeds this many times the network's output size, the network runs twice.
const STRETCH_MAX: f64 = 1.25;
/// Red, green and blue; networks ignore alpha.
const COLOURS: usize = 3;
const OPAQUE: u8 = u8::MAX;

/// A loaded network. It processes one image at a time.
pub struct ImageUpscaler {
    network: Mutex<UpscaleNetwork>,
}

struct UpscaleNetwork {
    session: Session,
    input: &'static str,
    output: &'static str,
    /// Factor by which the network enlarges width and height.
    factor: usize,
    /// Context around a tile that avoids visible seams, in pixels.
    margin: usize,
    core_max: usize,
}

impl ImageUpscaler {
    /// The small network, embedded in the binary: fast, best for drawings.
    pub fn load_compact(runtime: &OnnxRuntime) -> Result<ImageUpscaler, ToolError> {
        let graph = compact::build_graph().map_err(ToolError::Weights)?;
        let session = runtime.session_builder()?.commit_from_memory(&graph)?;
        Ok(ImageUpscaler::from_network(UpscaleNetwork {
            session,
            input: compact::PICTURE,
            output: compact::LARGER,
            factor: compact::FACTOR,
            // The filter that reduces the result reads a few more pixels.
            margin: compact::REACH + 4,
            core_max: 256,
        }))
    }

    /// `real_esrgan_x2.onnx`: for photographs, at six times the work.
    pub fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<ImageUpscaler, ToolError> {
        Ok(ImageUpscaler::from_network(UpscaleNetwork {
            session: runtime.create_session(&folder.join("real_esrgan_x2.onnx"))?,
            input: "input",
            output: "output",
            factor: 2,
            // Its receptive field is larger, but the effect of pixels beyond this is not visible.
            margin: 16,
            core_max: 256,
        }))
    }

    fn from_network(network: UpscaleNetwork) -> ImageUpscaler {
        ImageUpscaler { network: Mutex::new(network) }
    }

    /// Enlarges the image to a size that is at least as large. `is_wanted` is called before each
    /// tile; false cancels.
    pub fn enlarge(
        &self,
        picture: &RgbaPicture,
        sides: PictureSides,
        is_wanted: impl Fn() -> bool,
    ) -> Result<RgbaPicture, ToolError> {
        let mut network = self.lock_network();
        let smaller = reduce_large_picture(picture);
        let picture = smaller.as_ref().unwrap_or(picture);
        let PictureSides { width, height } = sides;
        let scale =
            (width as f64 / picture.width as f64).max(height as f64 / picture.height as f64);
        if scale <= STRETCH_MAX * network.factor as f64 {
            return network.enlarge(picture, sides, &is_wanted);
        }
        let step = |side: usize| side.div_ceil(network.factor);
        let between = PictureSides { width: step(width), height: step(height) };
        let between = network.enlarge(picture, between, &is_wanted)?;
        network.enlarge(&between, sides, &is_wanted)
    }

    /// Ignores poisoning: a session keeps no state between runs.
    fn lock_network(&self) -> MutexGuard<'_, UpscaleNetwork> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UpscaleNetwork {
    fn enlarge(
        &mut self,
        picture: &RgbaPicture,
        sides: PictureSides,
        is_wanted: &impl Fn() -> bool,
    ) -> Result<RgbaPicture, ToolError> {
        let PictureSides { width, height } = sides;
        let columns = TileDivision::divide_axis(picture.width, self.core_max, self.margin);
        let rows = TileDivision::divide_axis(picture.height, self.core_max, self.margin);
        let is_opaque = picture.rgba.as_chunks::<CHANNELS>().0.iter().all(|it| it[3] == OPAQUE);
        let mut result =
            RgbaPicture { width, height, rgba: vec![OPAQUE; width * height * CHANNELS] };
        let size = PictureSides { width: columns.part_length(), height: rows.part_length() };
        for down in rows.tile_spans(height) {
            for right in columns.tile_spans(width) {
                if !is_wanted() {
                    return Err(ToolError::Cancelled);
                }
                let part = ImageTile { picture, size, right: right.clone(), down: down.clone() };
                let seen = part.read_colours();
                let shape = [1, COLOURS, size.height, size.width];
                let outputs = self.session.run(ort::inputs! {
                    self.input => TensorRef::from_array_view((shape, seen.as_slice()))?,
                })?;
                let made = outputs[self.output].try_extract_tensor::<f32>()?.1;
                for (channel, values) in made.chunks_exact(made.len() / COLOURS).enumerate() {
                    part.write_channel(&mut result, channel, values, self.factor);
                }
                if !is_opaque {
                    part.write_channel(&mut result, COLOURS, &part.read_channel(COLOURS), 1);
                }
            }
        }
        Ok(result)
    }
}

/// A tile of an image, and its target.
struct ImageTile<'a> {
    picture: &'a RgbaPicture,
    /// Size with margins.
    size: PictureSides,
    right: TileSpan,
    down: TileSpan,
}

impl ImageTile<'_> {
    fn read_colours(&self) -> Vec<f32> {
        (0..COLOURS).flat_map(|channel| self.read_channel(channel)).collect()
    }

    /// The tile's pixels from 0 to 1, mirrored beyond the edges.
    fn read_channel(&self, channel: usize) -> Vec<f32> {
        let PictureSides { width, height } = self.size;
        let mut values = Vec::with_capacity(width * height);
        let places = |start: isize, count: usize, length: usize| -> Vec<usize> {
            (start..).take(count).map(|at| mirror_index(at, length)).collect()
        };
        let columns = places(self.right.start, width, self.picture.width);
        for row in places(self.down.start, height, self.picture.height) {
            let row = self.picture.row(row);
            values.extend(columns.iter().map(|column| f32::from(row[*column][channel]) / 255.0));
        }
        values
    }

    /// Resamples one channel and copies it to the target. `values` is `factor` times as wide and
    /// high as the tile.
    fn write_channel(
        &self,
        result: &mut RgbaPicture,
        channel: usize,
        values: &[f32],
        factor: usize,
    ) {
        let (right, down) = (&self.right.target, &self.down.target);
        if right.is_empty() || down.is_empty() {
            return;
        }
        let across = |part: &TileSpan, from: usize, to: usize| {
            let scale = from as f64 / to as f64;
            let start = part.target.start as f64 * scale - part.start as f64;
            let length = part.target.len() as f64 * scale;
            ((start * factor as f64) as f32, (length * factor as f64) as f32)
        };
        let (left, width) = across(&self.right, self.picture.width, result.width);
        let (top, height) = across(&self.down, self.picture.height, result.height);
        let row_length = self.size.width * factor;
        let read = |row: usize, into: &mut [f32]| {
            into.copy_from_slice(&values[row * row_length..][..row_length]);
        };
        let made = ChannelSource { width: row_length, height: self.size.height * factor, read };
        let window = ChannelWindow { left, top, width, height };
        let sides = PictureSides { width: right.len(), height: down.len() };
        let made = made.resample(window, sides, FilterKernel::Lanczos);
        for (row, made) in down.clone().zip(made.chunks_exact(right.len())) {
            for (pixel, value) in result.row_mut(row)[right.clone()].iter_mut().zip(made) {
                pixel[channel] = to_byte(*value);
            }
        }
    }
}

/// Reduces an image that is too large.
fn reduce_large_picture(picture: &RgbaPicture) -> Option<RgbaPicture> {
    let pixels = picture.width * picture.height;
    if pixels <= WORK_PIXELS_MAX {
        return None;
    }
    let scale = (WORK_PIXELS_MAX as f64 / pixels as f64).sqrt();
    let side = |side: usize| ((side as f64 * scale) as usize).max(1);
    let (width, height) = (side(picture.width), side(picture.height));
    let mut result = RgbaPicture { width, height, rgba: vec![0; width * height * CHANNELS] };
    for channel in 0..CHANNELS {
        let read = |row: usize, into: &mut [f32]| {
            let pixels = picture.row(row).iter();
            into.iter_mut().zip(pixels).for_each(|(it, pixel)| *it = f32::from(pixel[channel]));
        };
        let values = ChannelSource { width: picture.width, height: picture.height, read };
        let window = ChannelWindow::whole(picture.width, picture.height);
        let sides = PictureSides { width, height };
        let values = values.resample(window, sides, FilterKernel::Lanczos);
        for (pixel, value) in result.rgba.as_chunks_mut::<CHANNELS>().0.iter_mut().zip(values) {
            pixel[channel] = to_byte(value / 255.0);
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests;
