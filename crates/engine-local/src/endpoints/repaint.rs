//! Redraws an image according to a prompt. Noise is added to its latent, which is then denoised
//! towards the prompt, so that colours and large shapes stay.

use engine_onnx::pictor::{GUIDANCE_DEFAULT, PIXELS_SIDE, Painter, STEPS_DEFAULT, Start, Wish};
use engine_onnx::tools::Picture;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use super::images;
use super::picture_cut::{cut_to, side};
use super::picture_form::PIXELS_MAX;
use crate::refusal::Refusal;
use crate::style::with_style;

/// From 0 (keeps the image) to 1 (discards it). With less, prompts change little; with more, the
/// image is no longer recognisable.
const STRENGTH: f32 = 0.7;
const SIDE: u32 = PIXELS_SIDE as u32;
/// Maximum side of the result. More would add no detail and take memory.
const SIDE_MAX: u32 = 2048;

/// Width and height of the result: as requested, or those of the image; reduced to [`SIDE_MAX`].
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

/// Redraws the image with the aspect ratio of `size`; the excess at the sides is cropped.
pub(super) fn repaint(
    painter: &Painter,
    picture: Picture,
    size: (u32, u32),
    (prompt, seed): (&str, u64),
    is_wanted: &dyn Fn() -> bool,
) -> Result<Picture, Refusal> {
    let start = cut_to(picture, size, (SIDE, SIDE))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn even(width: usize, height: usize, rgba: [u8; 4]) -> Picture {
        Picture::new(width, height, rgba.repeat(width * height)).unwrap()
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
