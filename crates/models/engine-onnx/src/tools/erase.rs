//! Erases parts of an image and fills in a plausible background: MI-GAN.
//!
//! The network fills squares of 512 pixels. Each group of holes gets its own square with context
//! around it, so that small holes in a large image are filled at full resolution. Pixels outside of
//! the holes stay unchanged.

mod holes;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ort::session::Session;
use ort::value::TensorRef;

use self::holes::HoleArea;
pub use self::holes::HoleMask;
use super::resample::{ChannelSource, ChannelWindow, FilterKernel};
use super::tiles::mirror_index;
use super::{PictureSides, RgbaPicture, ToolError, split_bands};
use crate::runtime::OnnxRuntime;

/// Side of the network's input in pixels.
const SIDE: usize = 512;
const IMAGE: &str = "image";
const MASK: &str = "mask";
const RESULT: &str = "result";
/// Values of the mask.
const KEEP: u8 = 255;
const FILL: u8 = 0;
/// A square is at least this many times as wide as its holes, for context on all sides.
const AROUND: usize = 2;
/// A pixel of the network's square is unknown if at least this share of it is: a single hole among
/// the 11 × 11 pixels that it represents in the largest square image is 0.008.
const UNKNOWN: f32 = 1e-4;

/// The loaded network. It processes one image at a time.
pub struct ObjectEraser {
    session: Mutex<Session>,
}

impl ObjectEraser {
    /// `migan_pipeline_v2.onnx`.
    pub fn load(runtime: &OnnxRuntime, folder: &Path) -> Result<ObjectEraser, ToolError> {
        let session = runtime.create_session(&folder.join("migan_pipeline_v2.onnx"))?;
        Ok(ObjectEraser { session: Mutex::new(session) })
    }

    /// Fills the transparent pixels of the mask, or of the image itself if there is no mask.
    /// `is_wanted` is called before each group of holes; false cancels.
    pub fn erase(
        &self,
        mut picture: RgbaPicture,
        mask: Option<HoleMask>,
        is_wanted: impl Fn() -> bool,
    ) -> Result<RgbaPicture, ToolError> {
        let mut holes = mask.unwrap_or_else(|| HoleMask::from_mask(&picture));
        let ((width, height), (mask_width, mask_height)) =
            ((picture.width, picture.height), holes.size());
        if (width, height) != (mask_width, mask_height) {
            return Err(ToolError::MaskSize { mask_width, mask_height, width, height });
        }
        let areas = holes.find_areas();
        if areas.is_empty() {
            return Err(ToolError::NothingToErase);
        }
        if holes.are_everywhere() {
            return Err(ToolError::NothingToKeep);
        }
        let mut session = self.lock_session();
        for area in areas {
            if !is_wanted() {
                return Err(ToolError::Cancelled);
            }
            // Areas of groups may overlap; an overlapped group is already filled.
            if !holes.are_in(area) {
                continue;
            }
            let view = EraserView::around_area(area, &picture);
            let filled = view.fill_holes(&mut session, &picture, &holes)?;
            view.copy_filled(&mut picture, &holes, &filled);
            holes.close(area);
        }
        Ok(picture)
    }

    /// Ignores poisoning: a session keeps no state between runs.
    fn lock_session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of an image that the network sees, and the area whose holes it fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EraserView {
    area: HoleArea,
    across: ViewAxis,
    down: ViewAxis,
}

/// One axis of a [`EraserView`]: a part of the image, and its position in the network's square.
///
/// A part that is smaller than the square is mirrored around itself, in the square and not in the
/// image, so that an image of 64 × 500,000 pixels costs no more than a square one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ViewAxis {
    /// In pixels of the picture.
    start: usize,
    length: usize,
    /// In pixels of the square.
    place: usize,
    count: usize,
}

impl ViewAxis {
    /// Selects `side` pixels of the image's `length`, centred on `first..end` where possible, or
    /// all of them.
    fn centred_on(first: usize, end: usize, length: usize, side: usize) -> ViewAxis {
        if length <= side {
            let count = (length * SIDE).div_ceil(side);
            return ViewAxis { start: 0, length, place: (SIDE - count) / 2, count };
        }
        let start = ((first + end) / 2).saturating_sub(side / 2).min(length - side);
        ViewAxis { start, length: side, place: 0, count: SIDE }
    }

    fn scale(&self) -> f32 {
        self.count as f32 / self.length as f32
    }

    /// The position in the square of a pixel of the image.
    fn place_of(&self, at: usize) -> f32 {
        self.place as f32 + (at - self.start) as f32 * self.scale()
    }

    /// The pixel of the part at each position of the square.
    fn mirrored_positions(&self) -> Vec<usize> {
        let place = self.place.cast_signed();
        (0..SIDE).map(|at| mirror_index(at.cast_signed() - place, self.count)).collect()
    }
}

impl EraserView {
    fn around_area(area: HoleArea, picture: &RgbaPicture) -> EraserView {
        let longer = (area.right - area.left).max(area.bottom - area.top);
        let side = (longer * AROUND).max(SIDE);
        // More than the whole image is not needed.
        let side = side.min(picture.width.max(picture.height)).max(SIDE);
        EraserView {
            area,
            across: ViewAxis::centred_on(area.left, area.right, picture.width, side),
            down: ViewAxis::centred_on(area.top, area.bottom, picture.height, side),
        }
    }

    /// Runs the network: three channels of [`SIDE`]² bytes.
    fn fill_holes(
        &self,
        session: &mut Session,
        picture: &RgbaPicture,
        holes: &HoleMask,
    ) -> Result<Vec<u8>, ToolError> {
        let mut image = Vec::with_capacity(3 * SIDE * SIDE);
        for channel in 0..3 {
            let value = |row: usize, column: usize| f32::from(picture.row(row)[column][channel]);
            let values = self.resample_channel(FilterKernel::Lanczos, value);
            image.extend(values.into_iter().map(|it| (it + 0.5).clamp(0.0, 255.0) as u8));
        }
        let is_hole = |row: usize, column: usize| f32::from(u8::from(holes.is_at(row, column)));
        let unknown = self.resample_channel(FilterKernel::Triangle, is_hole);
        let mask: Vec<u8> =
            unknown.into_iter().map(|it| if UNKNOWN < it { FILL } else { KEEP }).collect();
        let outputs = session.run(ort::inputs! {
            IMAGE => TensorRef::from_array_view(([1, 3, SIDE, SIDE], image.as_slice()))?,
            MASK => TensorRef::from_array_view(([1, 1, SIDE, SIDE], mask.as_slice()))?,
        })?;
        Ok(outputs[RESULT].try_extract_tensor::<u8>()?.1.to_vec())
    }

    /// Resamples one channel, given by row and column, to the square.
    fn resample_channel(
        &self,
        filter: FilterKernel,
        value: impl Fn(usize, usize) -> f32,
    ) -> Vec<f32> {
        let EraserView { across, down, .. } = self;
        let read = |row: usize, into: &mut [f32]| {
            for (column, it) in into.iter_mut().enumerate() {
                *it = value(down.start + row, across.start + column);
            }
        };
        let part = ChannelSource { width: across.length, height: down.length, read };
        let window = ChannelWindow::whole(across.length, down.length);
        let sides = PictureSides { width: across.count, height: down.count };
        let part = part.resample(window, sides, filter);
        let columns = across.mirrored_positions();
        let mut square = Vec::with_capacity(SIDE * SIDE);
        for row in down.mirrored_positions() {
            let row = &part[row * across.count..][..across.count];
            square.extend(columns.iter().map(|column| row[*column]));
        }
        square
    }

    /// Copies the filled pixels into the holes of the area only.
    fn copy_filled(&self, picture: &mut RgbaPicture, holes: &HoleMask, filled: &[u8]) {
        let HoleArea { left, right, top, bottom } = self.area;
        let width = right - left;
        for rows in split_bands(top..bottom, width) {
            let window = ChannelWindow {
                left: self.across.place_of(left),
                top: self.down.place_of(rows.start),
                width: width as f32 * self.across.scale(),
                height: rows.len() as f32 * self.down.scale(),
            };
            let sides = PictureSides { width, height: rows.len() };
            for (channel, filled) in filled.chunks_exact(SIDE * SIDE).enumerate() {
                let read = |row: usize, into: &mut [f32]| {
                    let row = &filled[row * SIDE..][..SIDE];
                    into.iter_mut().zip(row).for_each(|(it, value)| *it = f32::from(*value));
                };
                let values = ChannelSource { width: SIDE, height: SIDE, read };
                let values = values.resample(window, sides, FilterKernel::Lanczos);
                for (row, values) in rows.clone().zip(values.chunks_exact(width)) {
                    let pixels = picture.row_mut(row)[left..right].iter_mut();
                    for (column, (pixel, value)) in (left..).zip(pixels.zip(values)) {
                        if holes.is_at(row, column) {
                            pixel[channel] = (value + 0.5).clamp(0.0, 255.0) as u8;
                            pixel[3] = u8::MAX;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: usize, height: usize) -> RgbaPicture {
        RgbaPicture::new(width, height, vec![90; width * height * 4]).unwrap()
    }

    fn area(left: usize, top: usize, right: usize, bottom: usize) -> HoleArea {
        HoleArea { left, top, right, bottom }
    }

    fn all(length: usize, place: usize, count: usize) -> ViewAxis {
        ViewAxis { start: 0, length, place, count }
    }

    fn from(start: usize, length: usize) -> ViewAxis {
        ViewAxis { start, length, place: 0, count: SIDE }
    }

    #[test]
    fn a_small_hole_in_a_large_picture_is_filled_at_its_full_resolution() {
        let view = EraserView::around_area(area(1000, 1000, 1100, 1050), &picture(4000, 3000));
        assert_eq!((view.across, view.down), (from(794, SIDE), from(769, SIDE)));
        let view = EraserView::around_area(area(0, 2900, 100, 3000), &picture(4000, 3000));
        assert_eq!((view.across, view.down), (from(0, SIDE), from(3000 - 512, SIDE)));
    }

    #[test]
    fn a_large_hole_has_as_much_around_it_as_there_is() {
        let view = EraserView::around_area(area(1000, 1000, 2000, 1500), &picture(4000, 3000));
        assert_eq!((view.across, view.down), (from(500, 2000), from(250, 2000)));
        let view = EraserView::around_area(area(0, 0, 3900, 100), &picture(4000, 300));
        assert_eq!((view.across, view.down), (all(4000, 0, SIDE), all(300, 236, 39)));
    }

    #[test]
    fn a_small_picture_is_mirrored_around() {
        let view = EraserView::around_area(area(10, 10, 20, 20), &picture(256, 300));
        assert_eq!((view.across, view.down), (all(256, 128, 256), all(300, 106, 300)));
        let seen = view.across.mirrored_positions();
        assert_eq!((seen[127], seen[128], seen[383], seen[384]), (0, 0, 255, 255));
    }

    #[test]
    fn the_longest_picture_takes_no_more_work_than_a_square_one() {
        let (width, height) = (64, 50_000);
        let view = EraserView::around_area(area(0, 0, width, height), &picture(width, height));
        assert_eq!((view.across, view.down), (all(64, 255, 1), all(height, 0, SIDE)));
        let asked = std::cell::Cell::new(0);
        let square = view.resample_channel(FilterKernel::Triangle, |_, _| {
            asked.set(asked.get() + 1);
            1.0
        });
        assert_eq!((square.len(), asked.get()), (SIDE * SIDE, width * height));
    }

    #[test]
    fn a_single_hole_in_a_large_picture_is_seen() {
        let view = EraserView::around_area(area(0, 0, 2880, 2880), &picture(2880, 2880));
        let is_hole = |row, column| f32::from(u8::from((row, column) == (1500, 1500)));
        let seen = view.resample_channel(FilterKernel::Triangle, is_hole);
        assert!(seen.iter().any(|it| UNKNOWN < *it));
    }

    #[test]
    fn only_holes_are_changed() {
        let mut shown = picture(600, 700);
        let mut mask = picture(600, 700);
        for row in 100..400 {
            mask.row_mut(row)[50..80].fill([0; 4]);
        }
        mask.rgba.as_chunks_mut::<4>().0.iter_mut().for_each(|it| it[3] = it[3].max(1) * 2);
        let holes = HoleMask::from_mask(&mask);
        let areas = holes.find_areas();
        let view = EraserView::around_area(areas[0], &shown);
        view.copy_filled(&mut shown, &holes, &vec![7; 3 * SIDE * SIDE]);
        for (row, column) in [(99, 60), (100, 49), (250, 80), (400, 60)] {
            assert_eq!(shown.row(row)[column], [90; 4], "{row} {column}");
        }
        for (row, column) in [(100, 50), (399, 79), (355, 60), (356, 60)] {
            assert_eq!(shown.row(row)[column], [7, 7, 7, 255], "{row} {column}");
        }
    }
}
