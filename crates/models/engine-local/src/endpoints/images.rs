//! `POST /v1/images/generations`: one image, as a PNG in base64.
//!
//! The model draws squares of 256 pixels. Other aspect ratios are cropped from the middle of a
//! square, and the compact upscaler scales the result to the requested size.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_onnx::pictor::{
    GUIDANCE_DEFAULT, PIXELS_SIDE, PaintRequest, PictorError, PictorModel, STEPS_DEFAULT,
};
use engine_onnx::tools::{PictureSides, RgbaPicture};
use serde::Deserialize;
use serde_json::{Value, json};

use super::caller_watch::CallerWatch;
use super::picture_file::PictureFile;
use super::picture_form::{self, ImagePermit, run_image_work};
use super::upscales::ENLARGED_PIXELS_MAX;
use super::{picture_crop, read_json};
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};
use crate::style::with_style;

/// Its weights are embedded in the binary, as those of the image model are.
const UPSCALER: &str = "upscale-esrgan-compact";
/// The square that the model draws.
pub(super) const SQUARE: PictureSides = PictureSides { width: PIXELS_SIDE, height: PIXELS_SIDE };

#[derive(Debug, Deserialize)]
struct ImageGenerationBody {
    model: String,
    prompt: String,
    negative_prompt: Option<String>,
    size: Option<String>,
    seed: Option<i64>,
    steps: Option<u32>,
    cfg_scale: Option<f32>,
}

pub(crate) async fn create_image(
    State(registry): State<Arc<ModelRegistry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, EngineRefusal> {
    let body: ImageGenerationBody = read_json(body)?;
    let ModelRuntime::Image(painter) = registry.get(&body.model, ModelKind::Image).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let size = parse_size(body.size.as_deref())?;
    let waiting = CallerWatch::default();
    let is_wanted = waiting.watch();
    // The painter is released before the upscaler is loaded, which may need its memory.
    let painted =
        tokio::task::spawn_blocking(move || paint_image(&painter, &body, is_wanted)).await;
    let rgb = painted
        .map_err(|error| EngineRefusal::engine_failure(error.to_string()))?
        .map_err(convert_pictor_error)?;
    drop(waiting);
    let file = encode_at_size(&registry, &rgb, size).await?;
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(file.bytes)}]})))
}

/// Encodes the drawn square at exactly this size, with the upscaler if it is too small.
async fn encode_at_size(
    registry: &Arc<ModelRegistry>,
    rgb: &[u8],
    size: PictureSides,
) -> Result<PictureFile, EngineRefusal> {
    let turn = ImagePermit::acquire(registry).await?;
    if size.width.max(size.height) <= PIXELS_SIDE {
        let whole = crop_middle(rgb, SQUARE)?;
        return run_image_work(turn, move |_| {
            add_opaque_alpha(picture_crop::crop_to(whole, size, size)?.as_raw(), size)
        })
        .await;
    }
    let drawn = crop_middle(rgb, fit_aspect_ratio(size))?;
    let ModelRuntime::Upscale(upscaler) = registry.get(UPSCALER, ModelKind::Upscale).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    run_image_work(turn, move |is_wanted| {
        upscaler.enlarge(&drawn, size, is_wanted).map_err(picture_form::convert_tool_error)
    })
    .await
}

fn paint_image(
    painter: &PictorModel,
    body: &ImageGenerationBody,
    is_wanted: impl Fn() -> bool,
) -> Result<Vec<u8>, PictorError> {
    let wish = PaintRequest {
        prompt: &with_style(&body.prompt),
        negative_prompt: body.negative_prompt.as_deref().unwrap_or_default(),
        seed: body.seed.unwrap_or_default().cast_unsigned(),
        steps: body.steps.unwrap_or(STEPS_DEFAULT),
        guidance: body.cfg_scale.unwrap_or(GUIDANCE_DEFAULT),
        start: None,
    };
    painter.paint(&wish, is_wanted)
}

/// Width and height of the result, reduced to the upscaler's maximum.
fn parse_size(text: Option<&str>) -> Result<PictureSides, EngineRefusal> {
    let Some(text) = text.filter(|it| *it != "auto") else {
        return Ok(SQUARE);
    };
    let sides = text.split_once('x');
    let sides = sides.and_then(|(width, height)| Some((parse_side(width)?, parse_side(height)?)));
    let Some((width, height)) = sides else {
        let message = "Write the size as width and height in pixels, such as 512x512.";
        return Err(EngineRefusal::invalid(Some("size"), message));
    };
    let pixels = width * height;
    if pixels <= ENLARGED_PIXELS_MAX {
        return Ok(PictureSides { width, height });
    }
    let scale = (ENLARGED_PIXELS_MAX as f64 / pixels as f64).sqrt();
    let shrunk = |side: usize| ((side as f64 * scale) as usize).max(1);
    Ok(PictureSides { width: shrunk(width), height: shrunk(height) })
}

/// Width and height of the largest part of the square with this aspect ratio.
fn fit_aspect_ratio(size: PictureSides) -> PictureSides {
    let longer = size.width.max(size.height);
    let shrunk = |side: usize| (PIXELS_SIDE * side).div_ceil(longer).clamp(1, PIXELS_SIDE);
    PictureSides { width: shrunk(size.width), height: shrunk(size.height) }
}

fn parse_side(text: &str) -> Option<usize> {
    const SIDE_MAX: usize = 1 << 16;
    text.parse().ok().filter(|it| (1..=SIDE_MAX).contains(it))
}

/// Crops the middle of the square to these sides.
fn crop_middle(rgb: &[u8], size: PictureSides) -> Result<RgbaPicture, EngineRefusal> {
    let PictureSides { width, height } = size;
    let (left, top) = ((PIXELS_SIDE - width) / 2, (PIXELS_SIDE - height) / 2);
    let rows = (top..top + height).flat_map(|row| {
        let start = (row * PIXELS_SIDE + left) * 3;
        &rgb[start..start + width * 3]
    });
    let pixels: Vec<u8> = rows.copied().collect();
    add_opaque_alpha(&pixels, size)
}

fn add_opaque_alpha(rgb: &[u8], size: PictureSides) -> Result<RgbaPicture, EngineRefusal> {
    let pixels = rgb.as_chunks::<3>().0.iter();
    let rgba = pixels.flat_map(|[red, green, blue]| [*red, *green, *blue, u8::MAX]).collect();
    let picture = RgbaPicture::new(size.width, size.height, rgba);
    picture
        .ok_or_else(|| EngineRefusal::engine_failure("A picture has another size than its pixels."))
}

pub(super) fn convert_pictor_error(error: PictorError) -> EngineRefusal {
    let message = error.to_string();
    match error {
        PictorError::Steps => EngineRefusal::invalid(Some("steps"), message),
        PictorError::Start => EngineRefusal::invalid(Some("image"), message),
        PictorError::Weights(_)
        | PictorError::Walk
        | PictorError::Text(_)
        | PictorError::Runtime(_)
        | PictorError::Cancelled => EngineRefusal::engine_failure(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_kept_and_its_form_lies_in_the_square() {
        let sides = |width, height| PictureSides { width, height };
        assert_eq!(parse_size(None).unwrap(), sides(256, 256));
        assert_eq!(parse_size(Some("1280x720")).unwrap(), sides(1280, 720));
        let PictureSides { width, height } = parse_size(Some("65536x4096")).unwrap();
        assert!(width * height <= ENLARGED_PIXELS_MAX && height * 16 <= width, "{width}x{height}");
        for wrong in ["", "1024", "0x5", "axb", "-1x5", "99999999999999999999x1"] {
            assert!(parse_size(Some(wrong)).is_err(), "{wrong}");
        }
        assert_eq!(fit_aspect_ratio(sides(1024, 1024)), sides(256, 256));
        assert_eq!(fit_aspect_ratio(sides(1280, 720)), sides(256, 144));
        assert_eq!(fit_aspect_ratio(sides(1, 1280)), sides(1, 256));
    }

    #[test]
    fn a_picture_is_cut_out_of_the_middle() {
        let mut rgb = vec![0; 3 * PIXELS_SIDE * PIXELS_SIDE];
        rgb[(64 * PIXELS_SIDE) * 3] = 7;
        let picture = crop_middle(&rgb, PictureSides { width: 256, height: 128 }).unwrap();
        assert_eq!((picture.width(), picture.height()), (256, 128));
        assert_eq!(picture.rgba()[..4], [7, 0, 0, 255]);
    }
}
