//! `POST /v1/images/generations`: one picture, as a PNG in base64.
//!
//! The model draws squares. What is asked for in another form is cut out of the middle of one; the
//! gateway brings it to its size.

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
use serde::Deserialize;
use serde_json::{Value, json};

use super::read_json;
use super::waiting::Waiting;
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};
use crate::style::with_style;

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
    let form = form(body.size.as_deref())?;
    let waiting = Waiting::default();
    let is_wanted = waiting.watch();
    let painted = tokio::task::spawn_blocking(move || paint(&painter, &body, is_wanted)).await;
    let rgb = painted.map_err(|error| Refusal::failed(error.to_string()))?.map_err(refusal)?;
    drop(waiting);
    let file = png(&rgb, form).map_err(|error| Refusal::failed(error.to_string()))?;
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(file)}]})))
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

/// Width and height of the largest part of the square that has the form of `size`.
pub(super) fn form(size: Option<&str>) -> Result<(usize, usize), Refusal> {
    let Some(size) = size.filter(|it| *it != "auto") else {
        return Ok((PIXELS_SIDE, PIXELS_SIDE));
    };
    let sides = size.split_once('x');
    let sides = sides.and_then(|(width, height)| Some((number(width)?, number(height)?)));
    let Some((width, height)) = sides else {
        let message = "Write the size as width and height in pixels, such as 512x512.";
        return Err(Refusal::invalid(Some("size"), message));
    };
    let longer = width.max(height);
    let shrunk = |side: usize| (PIXELS_SIDE * side).div_ceil(longer).clamp(1, PIXELS_SIDE);
    Ok((shrunk(width), shrunk(height)))
}

fn number(text: &str) -> Option<usize> {
    const SIDE_MAX: usize = 1 << 16;
    text.parse().ok().filter(|it| (1..=SIDE_MAX).contains(it))
}

/// The middle of a square picture.
fn png(rgb: &[u8], (width, height): (usize, usize)) -> Result<Vec<u8>, png::EncodingError> {
    let (left, top) = ((PIXELS_SIDE - width) / 2, (PIXELS_SIDE - height) / 2);
    let rows = (top..top + height).flat_map(|row| {
        let start = (row * PIXELS_SIDE + left) * 3;
        &rgb[start..start + width * 3]
    });
    let pixels: Vec<u8> = rows.copied().collect();
    let mut file = Vec::new();
    let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut file, side(width), side(height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(file)
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
    fn a_size_gives_a_form_that_lies_in_the_square() {
        assert_eq!(form(None).unwrap(), (256, 256));
        assert_eq!(form(Some("1024x1024")).unwrap(), (256, 256));
        assert_eq!(form(Some("1280x720")).unwrap(), (256, 144));
        assert_eq!(form(Some("8x1280")).unwrap(), (2, 256));
        for wrong in ["", "1024", "0x5", "axb", "-1x5", "99999999999999999999x1"] {
            assert!(form(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_picture_is_cut_out_of_the_middle() {
        let mut rgb = vec![0; 3 * PIXELS_SIDE * PIXELS_SIDE];
        rgb[(64 * PIXELS_SIDE) * 3] = 7;
        let file = png(&rgb, (256, 128)).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (256, 128));
        assert_eq!(pixels[0], 7);
    }
}
