//! `POST /v1/images/cutouts`: removes the background of an image.

use std::sync::Arc;

use axum::extract::{Multipart, State};
use axum::http::header;
use axum::response::IntoResponse;

use super::picture_form::{
    ImagePermit, PIXELS_MAX, PictureForm, convert_tool_error, decode_form_picture, run_image_work,
};
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

pub(crate) async fn create_cutout(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<impl IntoResponse, EngineRefusal> {
    let turn = ImagePermit::acquire(&registry).await?;
    let mut form = PictureForm::read(form).await?;
    let file = form.take_only_picture()?;
    let ModelRuntime::CutOut(cutter) = registry.get(&form.model, ModelKind::CutOut).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let cut = run_image_work(turn, move |is_wanted| {
        let picture = decode_form_picture("image", &file, PIXELS_MAX)?;
        cutter.remove_background(picture, is_wanted).map_err(convert_tool_error)
    });
    let cut = cut.await?;
    Ok(([(header::CONTENT_TYPE, cut.mime)], cut.bytes))
}
