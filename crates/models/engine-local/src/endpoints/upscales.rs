//! `POST /v1/images/upscales`: enlarges an image.

use std::sync::Arc;

use axum::extract::{Multipart, State};
use axum::http::header;
use axum::response::IntoResponse;
use engine_onnx::tools::PictureSides;

use super::picture_form::{
    ImagePermit, PIXELS_MAX, PictureForm, convert_tool_error, decode_form_picture, run_image_work,
};
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

/// Maximum of the enlarged image, from the specification.
pub(super) const ENLARGED_PIXELS_MAX: usize = 16_777_216;

pub(crate) async fn create_upscale(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<impl IntoResponse, EngineRefusal> {
    let turn = ImagePermit::acquire(&registry).await?;
    let mut form = PictureForm::read(form).await?;
    let file = form.take_only_picture()?;
    let size = parse_size(form.size.as_deref())?;
    let ModelRuntime::Upscale(upscaler) =
        registry.get(&form.model, ModelKind::Upscale).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let enlarged = run_image_work(turn, move |is_wanted| {
        let picture = decode_form_picture("image", &file, PIXELS_MAX)?;
        upscaler.enlarge(&picture, size, is_wanted).map_err(convert_tool_error)
    });
    let enlarged = enlarged.await?;
    Ok(([(header::CONTENT_TYPE, enlarged.mime)], enlarged.bytes))
}

/// Width and height of the result.
fn parse_size(text: Option<&str>) -> Result<PictureSides, EngineRefusal> {
    let sides = text.and_then(|it| it.split_once('x'));
    let sides = sides.and_then(|(width, height)| {
        Some(PictureSides { width: width.parse().ok()?, height: height.parse().ok()? })
    });
    let is_possible = |it: &PictureSides| {
        let pixels = it.width.checked_mul(it.height);
        pixels.is_some_and(|it| (1..=ENLARGED_PIXELS_MAX).contains(&it))
    };
    sides.filter(is_possible).ok_or_else(|| {
        let message =
            format!("Write the size as 1024x768, of at most {ENLARGED_PIXELS_MAX} pixels.");
        EngineRefusal::invalid(Some("size"), message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_within_the_bounds() {
        let sides = |width, height| PictureSides { width, height };
        assert_eq!(parse_size(Some("1024x768")).unwrap(), sides(1024, 768));
        assert_eq!(parse_size(Some("4096x4096")).unwrap(), sides(4096, 4096));
        for wrong in ["", "auto", "0x5", "5", "4097x4096", "-1x1", "99999999999x99999999999"] {
            assert!(parse_size(Some(wrong)).is_err(), "{wrong}");
        }
        assert!(parse_size(None).is_err());
    }
}
