//! `POST /v1/images/edits`: edits an image and returns it in base64. One kind of model erases the
//! masked area and takes no prompt; the other redraws the whole image from a prompt.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_onnx::tools::ToolError;
use engine_onnx::tools::erase::HoleMask;
use serde_json::{Value, json};

use super::picture_file::PictureFile;
use super::picture_form::{
    ImagePermit, PIXELS_MAX, PictureForm, convert_tool_error, decode_form_picture, run_image_work,
};
use super::repaint;
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

const NO_MASK: &str = "This model erases the transparent area of a mask, and ignores the prompt. Send a \
     `mask` to /images/edits, or an image with a transparent area; or use the model pictor-edit, \
     which redraws an image from a prompt.";
const NO_MASK_TAKEN: &str = "This model redraws the whole image, and accepts no mask. To erase the \
     area of a mask, use the model erase-migan.";

pub(crate) async fn create_edit(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<Json<Value>, EngineRefusal> {
    let turn = ImagePermit::acquire(&registry).await?;
    let form = PictureForm::read(form).await?;
    let changed = match registry.kind_of(&form.model)? {
        ModelKind::Edit => redraw_image(&registry, form, turn).await?,
        _ => erase_area(&registry, form, turn).await?,
    };
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(changed.bytes)}]})))
}

async fn erase_area(
    registry: &Arc<ModelRegistry>,
    mut form: PictureForm,
    turn: ImagePermit,
) -> Result<PictureFile, EngineRefusal> {
    let (file, mask) = (form.take_only_picture()?, form.mask.take());
    let ModelRuntime::Erase(eraser) = registry.get(&form.model, ModelKind::Erase).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    run_image_work(turn, move |is_wanted| {
        // The mask first: only its holes are kept while the image is decoded.
        let mask = mask.map(|it| {
            decode_form_picture("mask", &it, PIXELS_MAX).map(|it| HoleMask::from_mask(&it))
        });
        let holes = mask.transpose()?;
        let picture = decode_form_picture("image", &file, PIXELS_MAX)?;
        let has_mask = holes.is_some();
        eraser.erase(picture, holes, is_wanted).map_err(|error| match error {
            ToolError::NothingToErase if !has_mask => EngineRefusal::invalid(Some("mask"), NO_MASK),
            error => convert_tool_error(error),
        })
    })
    .await
}

async fn redraw_image(
    registry: &Arc<ModelRegistry>,
    mut form: PictureForm,
    turn: ImagePermit,
) -> Result<PictureFile, EngineRefusal> {
    if form.mask.is_some() {
        return Err(EngineRefusal::invalid(Some("mask"), NO_MASK_TAKEN));
    }
    let file = form.take_only_picture()?;
    let ModelRuntime::Image(painter) = registry.get(&form.model, ModelKind::Edit).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    run_image_work(turn, move |is_wanted| {
        let picture = decode_form_picture("image", &file, PIXELS_MAX)?;
        let size = repaint::resolve_size(form.size.as_deref(), &picture)?;
        let seed = form.seed.unwrap_or_default().cast_unsigned();
        repaint::repaint_picture(&painter, picture, size, &form.prompt, seed, is_wanted)
    })
    .await
}
