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
    GUIDANCE_DEFAULT, PIXELS_SIDE, Painter, PictorError, STEPS_DEFAULT, Wish,
};
use engine_onnx::tools::Picture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::picture_file::PictureFile;
use super::picture_form::{self, PictureTurn, work};
use super::upscales::ENLARGED_PIXELS_MAX;
use super::waiting::Waiting;
use super::{picture_cut, read_json};
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};
use crate::style::with_style;

/// Its weights are embedded in the binary, as those of the image model are.
const UPSCALER: &str = "upscale-esrgan-compact";

#[derive(Debug, Deserialize)]
struct ImageBody {
    model: String,
    prompt: String,
    negative_prompt: Option<String>,
    size: Option<String>,
    seed: Option<i64>,
    steps: Option<u32>,
    cfg_scale: Option<f32>,
}

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let body: ImageBody = read_json(body)?;
    let Model::Image(painter) = registry.get(&body.model, ModelKind::Image).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let size = size(body.size.as_deref())?;
    let waiting = Waiting::default();
    let is_wanted = waiting.watch();
    // The painter is released before the upscaler is loaded, which may need its memory.
    let painted = tokio::task::spawn_blocking(move || paint(&painter, &body, is_wanted)).await;
    let rgb = painted.map_err(|error| Refusal::failed(error.to_string()))?.map_err(refusal)?;
    drop(waiting);
    let file = sized(&registry, &rgb, size).await?;
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(file.bytes)}]})))
}

/// Encodes the drawn square at exactly this size, with the upscaler if it is too small.
async fn sized(
    registry: &Arc<Registry>,
    rgb: &[u8],
    size: (usize, usize),
) -> Result<PictureFile, Refusal> {
    let turn = PictureTurn::take(registry).await?;
    if size.0.max(size.1) <= PIXELS_SIDE {
        let whole = middle(rgb, (PIXELS_SIDE, PIXELS_SIDE))?;
        return work(turn, move |_| {
            let size = (picture_cut::side(size.0), picture_cut::side(size.1));
            opaque(picture_cut::cut_to(whole, size, size)?.as_raw(), size)
        })
        .await;
    }
    let drawn = middle(rgb, form(size))?;
    let Model::Upscale(upscaler) = registry.get(UPSCALER, ModelKind::Upscale).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    work(turn, move |is_wanted| {
        upscaler.enlarge(&drawn, size, is_wanted).map_err(picture_form::refusal)
    })
    .await
}

fn paint(
    painter: &Painter,
    body: &ImageBody,
    is_wanted: impl Fn() -> bool,
) -> Result<Vec<u8>, PictorError> {
    let wish = Wish {
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
fn size(text: Option<&str>) -> Result<(usize, usize), Refusal> {
    let Some(text) = text.filter(|it| *it != "auto") else {
        return Ok((PIXELS_SIDE, PIXELS_SIDE));
    };
    let sides = text.split_once('x');
    let sides = sides.and_then(|(width, height)| Some((number(width)?, number(height)?)));
    let Some((width, height)) = sides else {
        let message = "Write the size as width and height in pixels, such as 512x512.";
        return Err(Refusal::invalid(Some("size"), message));
    };
    let pixels = width * height;
    if pixels <= ENLARGED_PIXELS_MAX {
        return Ok((width, height));
    }
    let scale = (ENLARGED_PIXELS_MAX as f64 / pixels as f64).sqrt();
    let shrunk = |side: usize| ((side as f64 * scale) as usize).max(1);
    Ok((shrunk(width), shrunk(height)))
}

/// Width and height of the largest part of the square with this aspect ratio.
fn form((width, height): (usize, usize)) -> (usize, usize) {
    let longer = width.max(height);
    let shrunk = |side: usize| (PIXELS_SIDE * side).div_ceil(longer).clamp(1, PIXELS_SIDE);
    (shrunk(width), shrunk(height))
}

fn number(text: &str) -> Option<usize> {
    const SIDE_MAX: usize = 1 << 16;
    text.parse().ok().filter(|it| (1..=SIDE_MAX).contains(it))
}

/// Crops the middle of the square to these sides.
fn middle(rgb: &[u8], (width, height): (usize, usize)) -> Result<Picture, Refusal> {
    let (left, top) = ((PIXELS_SIDE - width) / 2, (PIXELS_SIDE - height) / 2);
    let rows = (top..top + height).flat_map(|row| {
        let start = (row * PIXELS_SIDE + left) * 3;
        &rgb[start..start + width * 3]
    });
    let pixels: Vec<u8> = rows.copied().collect();
    opaque(&pixels, (picture_cut::side(width), picture_cut::side(height)))
}

fn opaque(rgb: &[u8], (width, height): (u32, u32)) -> Result<Picture, Refusal> {
    let pixels = rgb.as_chunks::<3>().0.iter();
    let rgba = pixels.flat_map(|[red, green, blue]| [*red, *green, *blue, u8::MAX]).collect();
    let picture = Picture::new(width as usize, height as usize, rgba);
    picture.ok_or_else(|| Refusal::failed("A picture has another size than its pixels."))
}

pub(super) fn refusal(error: PictorError) -> Refusal {
    let message = error.to_string();
    match error {
        PictorError::Steps => Refusal::invalid(Some("steps"), message),
        PictorError::Start => Refusal::invalid(Some("image"), message),
        PictorError::Weights(_)
        | PictorError::Walk
        | PictorError::Text(_)
        | PictorError::Runtime(_)
        | PictorError::Cancelled => Refusal::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_kept_and_its_form_lies_in_the_square() {
        assert_eq!(size(None).unwrap(), (256, 256));
        assert_eq!(size(Some("1280x720")).unwrap(), (1280, 720));
        let (width, height) = size(Some("65536x4096")).unwrap();
        assert!(width * height <= ENLARGED_PIXELS_MAX && height * 16 <= width, "{width}x{height}");
        for wrong in ["", "1024", "0x5", "axb", "-1x5", "99999999999999999999x1"] {
            assert!(size(Some(wrong)).is_err(), "{wrong}");
        }
        assert_eq!(form((1024, 1024)), (256, 256));
        assert_eq!(form((1280, 720)), (256, 144));
        assert_eq!(form((1, 1280)), (1, 256));
    }

    #[test]
    fn a_picture_is_cut_out_of_the_middle() {
        let mut rgb = vec![0; 3 * PIXELS_SIDE * PIXELS_SIDE];
        rgb[(64 * PIXELS_SIDE) * 3] = 7;
        let picture = middle(&rgb, (256, 128)).unwrap();
        assert_eq!((picture.width(), picture.height()), (256, 128));
        assert_eq!(picture.rgba()[..4], [7, 0, 0, 255]);
    }
}
