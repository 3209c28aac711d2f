//! Crops an image to an aspect ratio, centred.

use engine_onnx::tools::Picture;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage, Rgba, RgbaImage};

use crate::refusal::Refusal;

/// Crops the image to the aspect ratio of `form`, centred, flattens it on white, and scales it to
/// `size`.
pub(super) fn cut_to(
    picture: Picture,
    form: (u32, u32),
    (width, height): (u32, u32),
) -> Result<RgbImage, Refusal> {
    let whole_size = (side(picture.width()), side(picture.height()));
    let (cut_width, cut_height) = part(whole_size, form);
    let (left, top) = ((whole_size.0 - cut_width) / 2, (whole_size.1 - cut_height) / 2);
    let whole = RgbaImage::from_raw(whole_size.0, whole_size.1, picture.into_rgba());
    let whole = whole.ok_or_else(|| Refusal::failed("A picture has no pixels."))?;
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

pub(super) fn side(pixels: usize) -> u32 {
    u32::try_from(pixels).unwrap_or(u32::MAX)
}

/// Width and height of the largest part with the aspect ratio of `size`.
fn part((width, height): (u32, u32), size: (u32, u32)) -> (u32, u32) {
    let (wide, high) = (u64::from(size.0), u64::from(size.1));
    let scaled = |length: u32, by: u64, of: u64| {
        u32::try_from(u64::from(length) * by / of.max(1)).unwrap_or(u32::MAX)
    };
    (width.min(scaled(height, wide, high)).max(1), height.min(scaled(width, high, wide)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(width: usize, height: usize, rgba: [u8; 4]) -> Picture {
        Picture::new(width, height, rgba.repeat(width * height)).unwrap()
    }

    #[test]
    fn a_part_has_the_form_that_is_asked_for() {
        assert_eq!(part((300, 300), (512, 512)), (300, 300));
        assert_eq!(part((1000, 300), (512, 512)), (300, 300));
        assert_eq!(part((300, 1000), (1600, 900)), (300, 168));
        assert_eq!(part((1, 1), (4000, 1)), (1, 1));
    }

    #[test]
    fn what_is_transparent_becomes_white() {
        let read = |rgba, size| {
            let cut = cut_to(even(40, 20, rgba), (20, 40), size).unwrap();
            assert_eq!(cut.dimensions(), size);
            cut.get_pixel(3, 3).0
        };
        for size in [(8, 16), (256, 256)] {
            assert_eq!(read([10, 20, 30, 255], size), [10, 20, 30]);
            assert_eq!(read([10, 20, 30, 0], size), [255, 255, 255]);
        }
    }
}
