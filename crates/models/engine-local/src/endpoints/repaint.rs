//! Redraws an image according to a prompt. Noise is added to its latent, which is then denoised
//! towards the prompt, so that colours and large shapes stay.

use engine_onnx::pictor::{
    GUIDANCE_DEFAULT, PIXELS_SIDE, PaintRequest, PictorModel, STEPS_DEFAULT, StartImage,
};
use engine_onnx::tools::{PictureSides, RgbaPicture};
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use super::images::{self, SQUARE};
use super::picture_crop::{crop_to, to_side_lengths};
use super::picture_form::PIXELS_MAX;
use crate::refusal::EngineRefusal;
use crate::style::with_style;

/// From 0 (keeps the image) to 1 (discards it). With less, prompts change little; with more, the
/// image is no longer recognisable.
const STRENGTH: f32 = 0.7;
const SIDE: u32 = PIXELS_SIDE as u32;
/// Maximum side of the result. More would add no detail and take memory.
const SIDE_MAX: usize = 2048;

/// Width and height of the result: as requested, or those of the image; reduced to [`SIDE_MAX`].
pub(super) fn resolve_size(
    asked: Option<&str>,
    picture: &RgbaPicture,
) -> Result<PictureSides, EngineRefusal> {
    let Some(asked) = asked.filter(|it| *it != "auto") else {
        return Ok(limit_size(PictureSides { width: picture.width(), height: picture.height() }));
    };
    let sides = asked.split_once('x');
    let sides = sides.and_then(|(width, height)| {
        Some(PictureSides { width: width.parse().ok()?, height: height.parse().ok()? })
    });
    let fits = |it: &PictureSides| {
        let pixels = it.width.checked_mul(it.height);
        pixels.is_some_and(|it| (1..=PIXELS_MAX).contains(&(it as u64)))
    };
    sides.filter(fits).map(limit_size).ok_or_else(|| {
        let message = format!("Write the size as 512x512, with at most {PIXELS_MAX} pixels.");
        EngineRefusal::invalid(Some("size"), message)
    })
}

fn limit_size(size: PictureSides) -> PictureSides {
    let longer = size.width.max(size.height).max(SIDE_MAX);
    let shrunk = |side: usize| (side * SIDE_MAX / longer).max(1);
    PictureSides { width: shrunk(size.width), height: shrunk(size.height) }
}

/// Redraws the image with the aspect ratio of `size`; the excess at the sides is cropped.
pub(super) fn repaint_picture(
    painter: &PictorModel,
    picture: RgbaPicture,
    size: PictureSides,
    prompt: &str,
    seed: u64,
    is_wanted: &dyn Fn() -> bool,
) -> Result<RgbaPicture, EngineRefusal> {
    let start = crop_to(picture, size, SQUARE)?;
    let wish = PaintRequest {
        prompt: &with_style(prompt),
        negative_prompt: "",
        seed,
        steps: STEPS_DEFAULT,
        guidance: GUIDANCE_DEFAULT,
        start: Some(StartImage { rgb: start.as_raw(), strength: STRENGTH }),
    };
    let drawn = painter.paint(&wish, is_wanted).map_err(images::convert_pictor_error)?;
    let failed = || EngineRefusal::engine_failure("A picture has another size than its pixels.");
    let drawn = RgbImage::from_raw(SIDE, SIDE, drawn).ok_or_else(failed)?;
    let (width, height) = to_side_lengths(size);
    let enlarged = imageops::resize(&drawn, width, height, FilterType::CatmullRom);
    drop(drawn);
    let opaque = enlarged.pixels().flat_map(|Rgb([red, green, blue])| [*red, *green, *blue, 255]);
    RgbaPicture::new(size.width, size.height, opaque.collect()).ok_or_else(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(width: usize, height: usize, rgba: [u8; 4]) -> RgbaPicture {
        RgbaPicture::new(width, height, rgba.repeat(width * height)).unwrap()
    }

    #[test]
    fn a_size_is_the_pictures_own_unless_it_is_asked_for() {
        let picture = even(30, 20, [0; 4]);
        let sides = |width, height| PictureSides { width, height };
        assert_eq!(resolve_size(None, &picture).unwrap(), sides(30, 20));
        assert_eq!(resolve_size(Some("auto"), &picture).unwrap(), sides(30, 20));
        assert_eq!(resolve_size(Some("64x48"), &picture).unwrap(), sides(64, 48));
        assert_eq!(resolve_size(Some("4096x1024"), &picture).unwrap(), sides(2048, 512));
        assert_eq!(resolve_size(Some("33177600x1"), &picture).unwrap(), sides(2048, 1));
        for wrong in ["", "64", "0x5", "axb", "60000x60000"] {
            assert!(resolve_size(Some(wrong), &picture).is_err(), "{wrong}");
        }
    }
}
