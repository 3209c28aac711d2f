//! Crops an image to an aspect ratio, centred.

use engine_onnx::tools::{PictureSides, RgbaPicture};
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage, Rgba, RgbaImage};

use crate::refusal::EngineRefusal;

/// Crops the image to the aspect ratio of `form`, centred, flattens it on white, and scales it to
/// `size`.
pub(super) fn crop_to(
    picture: RgbaPicture,
    form: PictureSides,
    size: PictureSides,
) -> Result<RgbImage, EngineRefusal> {
    let whole_size = PictureSides { width: picture.width(), height: picture.height() };
    let (whole_width, whole_height) = to_side_lengths(whole_size);
    let (cut_width, cut_height) = to_side_lengths(fit_crop_size(whole_size, form));
    let (width, height) = to_side_lengths(size);
    let (left, top) = ((whole_width - cut_width) / 2, (whole_height - cut_height) / 2);
    let whole = RgbaImage::from_raw(whole_width, whole_height, picture.into_rgba());
    let whole = whole.ok_or_else(|| EngineRefusal::engine_failure("A picture has no pixels."))?;
    let cut = imageops::crop_imm(&whole, left, top, cut_width, cut_height);
    // Unlike a resize, this needs no memory that grows with the image.
    let mut sized = imageops::thumbnail(&*cut, cut_width.min(width), cut_height.min(height));
    drop(whole);
    if sized.dimensions() != (width, height) {
        sized = imageops::resize(&sized, width, height, FilterType::CatmullRom);
    }
    let on_white = |Rgba([red, green, blue, alpha]): &Rgba<u8>| {
        let mixed = |colour: u8| {
            let (colour, alpha) = (u32::from(colour), u32::from(*alpha));
            ((colour * alpha + 255 * (255 - alpha) + 127) / 255) as u8
        };
        Rgb([mixed(*red), mixed(*green), mixed(*blue)])
    };
    let mut opaque = RgbImage::new(width, height);
    opaque.pixels_mut().zip(sized.pixels()).for_each(|(to, from)| *to = on_white(from));
    Ok(opaque)
}

/// Converts width and height for the `image` crate.
pub(super) fn to_side_lengths(size: PictureSides) -> (u32, u32) {
    let length = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
    (length(size.width), length(size.height))
}

/// The size of the largest part with the aspect ratio of `form`.
fn fit_crop_size(whole: PictureSides, form: PictureSides) -> PictureSides {
    let scaled = |length: usize, by: usize, of: usize| length.saturating_mul(by) / of.max(1);
    PictureSides {
        width: whole.width.min(scaled(whole.height, form.width, form.height)).max(1),
        height: whole.height.min(scaled(whole.width, form.height, form.width)).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(width: usize, height: usize, rgba: [u8; 4]) -> RgbaPicture {
        RgbaPicture::new(width, height, rgba.repeat(width * height)).unwrap()
    }

    #[test]
    fn a_part_has_the_form_that_is_asked_for() {
        let sides = |width, height| PictureSides { width, height };
        assert_eq!(fit_crop_size(sides(300, 300), sides(512, 512)), sides(300, 300));
        assert_eq!(fit_crop_size(sides(1000, 300), sides(512, 512)), sides(300, 300));
        assert_eq!(fit_crop_size(sides(300, 1000), sides(1600, 900)), sides(300, 168));
        assert_eq!(fit_crop_size(sides(1, 1), sides(4000, 1)), sides(1, 1));
    }

    #[test]
    fn what_is_transparent_becomes_white() {
        let form = PictureSides { width: 20, height: 40 };
        let read = |rgba, size| {
            let cut = crop_to(even(40, 20, rgba), form, size).unwrap();
            assert_eq!(cut.dimensions(), to_side_lengths(size));
            cut.get_pixel(3, 3).0
        };
        for (width, height) in [(8, 16), (256, 256)] {
            let size = PictureSides { width, height };
            assert_eq!(read([10, 20, 30, 255], size), [10, 20, 30]);
            assert_eq!(read([10, 20, 30, 0], size), [255, 255, 255]);
        }
    }
}
