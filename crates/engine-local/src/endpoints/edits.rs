//! `POST /v1/images/edits`: edits an image and returns it in base64. One kind of model erases the
//! masked area and takes no prompt; the other redraws the whole image from a prompt.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_onnx::tools::ToolError;
use engine_onnx::tools::erase::Holes;
use serde_json::{Value, json};

use super::picture_file::PictureFile;
use super::picture_form::{PIXELS_MAX, PictureForm, PictureTurn, opened, refusal, work};
use super::repaint;
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

const NO_MASK: &str = "This model takes out what a mask shows, and reads no words. Send a `mask` that \
     is transparent there, to /images/edits, or a picture that is; or name the model pictor-edit, \
     which draws a picture anew as a prompt says.";
const NO_MASK_TAKEN: &str = "This model draws the whole picture anew, and takes no mask. To take out \
     what a mask shows, name the model erase-migan.";

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    form: Multipart,
) -> Result<Json<Value>, Refusal> {
    let turn = PictureTurn::take(&registry).await?;
    let form = PictureForm::read(form).await?;
    let changed = match registry.kind_of(&form.model)? {
        ModelKind::Edit => redraw(&registry, form, turn).await?,
        _ => erase(&registry, form, turn).await?,
    };
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(changed.bytes)}]})))
}

async fn erase(
    registry: &Arc<Registry>,
    mut form: PictureForm,
    turn: PictureTurn,
) -> Result<PictureFile, Refusal> {
    let (file, mask) = (form.picture()?, form.mask.take());
    let Model::Erase(eraser) = registry.get(&form.model, ModelKind::Erase).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    work(turn, move |is_wanted| {
        // The mask first: only its holes are kept while the image is decoded.
        let mask = mask.map(|it| opened("mask", &it, PIXELS_MAX).map(|it| Holes::of(&it)));
        let holes = mask.transpose()?;
        let picture = opened("image", &file, PIXELS_MAX)?;
        let has_mask = holes.is_some();
        eraser.erase(picture, holes, is_wanted).map_err(|error| match error {
            ToolError::NothingToErase if !has_mask => Refusal::invalid(Some("mask"), NO_MASK),
            error => refusal(error),
        })
    })
    .await
}

async fn redraw(
    registry: &Arc<Registry>,
    mut form: PictureForm,
    turn: PictureTurn,
) -> Result<PictureFile, Refusal> {
    if form.mask.is_some() {
        return Err(Refusal::invalid(Some("mask"), NO_MASK_TAKEN));
    }
    let file = form.picture()?;
    let Model::Image(painter) = registry.get(&form.model, ModelKind::Edit).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    work(turn, move |is_wanted| {
        let picture = opened("image", &file, PIXELS_MAX)?;
        let size = repaint::size(form.size.as_deref(), &picture)?;
        let seed = form.seed.unwrap_or_default().cast_unsigned();
        repaint::repaint(&painter, picture, size, (&form.prompt, seed), is_wanted)
    })
    .await
}
