//! A picture drawn anew as a text says. Its latent is made unclear and cleared towards the text, so
//! that colours and large forms stay.

use engine_onnx::pictor::{GUIDANCE_DEFAULT, PIXELS_SIDE, Painter, STEPS_DEFAULT, Start, Wish};
use engine_onnx::tools::Picture;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage, Rgba, RgbaImage};

use super::images;
use super::picture_form::PIXELS_MAX;
use crate::refusal::Refusal;
use crate::style::with_style;

/// From 0, which keeps the picture, to 1, which forgets it. Below, words change little; above, the
/// picture is not recognised.
const STRENGTH: f32 = 0.7;
const SIDE: u32 = PIXELS_SIDE as u32;
/// Of the result. More would show nothing more, and take memory.
const SIDE_MAX: u32 = 2048;

/// Width and height of the result: as asked, or those of the picture, and smaller where they go
/// beyond [`SIDE_MAX`].
pub(super) fn size(asked: Option<&str>, picture: &Picture) -> Result<(u32, u32), Refusal> {
    let Some(asked) = asked.filter(|it| *it != "auto") else {
        return Ok(bounded((side(picture.width()), side(picture.height()))));
    };
    let sides = asked.split_once('x');
    let sides = sides.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let fits = |(width, height): &(u32, u32)| {
        (1..=PIXELS_MAX).contains(&(u64::from(*width) * u64::from(*height)))
    };
    sides.filter(fits).map(bounded).ok_or_else(|| {
        let message = format!("Write the size as 512x512, with at most {PIXELS_MAX} pixels.");
        Refusal::invalid(Some("size"), message)
    })
}

fn bounded((width, height): (u32, u32)) -> (u32, u32) {
    let longer = u64::from(width.max(height).max(SIDE_MAX));
    let shrunk = |side: u32| u64::from(side) * u64::from(SIDE_MAX) / longer;
    (width.min(shrunk(width) as u32).max(1), height.min(shrunk(height) as u32).max(1))
}

fn side(pixels: usize) -> u32 {
    u32::try_from(pixels).unwrap_or(u32::MAX)
}

/// The picture has the form of `size` afterwards: what does not fit is cut off at its sides.
pub(super) fn repaint(
    painter: &Painter,
    picture: Picture,
    size: (u32, u32),
    (prompt, seed): (&str, u64),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Picture, Refusal> {
    let start = square(picture, size)?;
    let wish = Wish {
        prompt: &with_style(prompt),
        negative_prompt: "",
        seed,
        steps: STEPS_DEFAULT,
        guidance: GUIDANCE_DEFAULT,
        start: Some(Start { rgb: start.as_raw(), strength: STRENGTH }),
    };
    let drawn = painter.paint(&wish, is_wanted).map_err(images::refusal)?;
    let failed = || Refusal::failed("A picture has another size than its pixels.");
    let drawn = RgbImage::from_raw(SIDE, SIDE, drawn).ok_or_else(failed)?;
    let (width, height) = size;
    let enlarged = imageops::resize(&drawn, width, height, FilterType::CatmullRom);
    drop(drawn);
    let opaque = enlarged.pixels().flat_map(|Rgb([red, green, blue])| [*red, *green, *blue, 255]);
    Picture::new(width as usize, height as usize, opaque.collect()).ok_or_else(failed)
}

/// The middle of the picture in the form of `size`, on white, as the square that the model reads.
fn square(picture: Picture, size: (u32, u32)) -> Result<RgbImage, Refusal> {
    let (width, height) = (side(picture.width()), side(picture.height()));
    let (cut_width, cut_height) = part((width, height), size);
    let (left, top) = ((width - cut_width) / 2, (height - cut_height) / 2);
    let whole = RgbaImage::from_raw(width, height, picture.into_rgba());
    let whole = whole.ok_or_else(|| Refusal::failed("A picture has no pixels."))?;
    let cut = imageops::crop_imm(&whole, left, top, cut_width, cut_height);
    // Unlike a resize it needs no memory that grows with the picture.
    let small = imageops::thumbnail(&*cut, SIDE, SIDE);
    let on_white = |Rgba([red, green, blue, alpha]): &Rgba<u8>| {
        let mixed = |colour: u8| {
            let (colour, alpha) = (u32::from(colour), u32::from(*alpha));
            ((colour * alpha + 255 * (255 - alpha) + 127) / 255) as u8
        };
        Rgb([mixed(*red), mixed(*green), mixed(*blue)])
    };
    let mut square = RgbImage::new(SIDE, SIDE);
    square.pixels_mut().zip(small.pixels()).for_each(|(to, from)| *to = on_white(from));
    Ok(square)
}

/// Width and height of the largest part that has the form of `size`.
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
        let read = |rgba| square(even(40, 20, rgba), (20, 40)).unwrap().get_pixel(9, 9).0;
        assert_eq!(read([10, 20, 30, 255]), [10, 20, 30]);
        assert_eq!(read([10, 20, 30, 0]), [255, 255, 255]);
    }

    #[test]
    fn a_size_is_the_pictures_own_unless_it_is_asked_for() {
        let picture = even(30, 20, [0; 4]);
        assert_eq!(size(None, &picture).unwrap(), (30, 20));
        assert_eq!(size(Some("auto"), &picture).unwrap(), (30, 20));
        assert_eq!(size(Some("64x48"), &picture).unwrap(), (64, 48));
        assert_eq!(size(Some("4096x1024"), &picture).unwrap(), (2048, 512));
        assert_eq!(size(Some("33177600x1"), &picture).unwrap(), (2048, 1));
        for wrong in ["", "64", "0x5", "axb", "60000x60000"] {
            assert!(size(Some(wrong), &picture).is_err(), "{wrong}");
        }
    }
}
