//! `POST /v1/images/edits`: what a mask shows is taken out of a picture, which comes back in base64.
//!
//! The model reads no words: a prompt is passed over.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_onnx::tools::ToolError;
use engine_onnx::tools::erase::Holes;
use serde_json::{Value, json};

use super::picture_form::{PIXELS_MAX, PictureForm, Turn, opened, refusal, work};
use crate::refusal::Refusal;
use crate::registry::{Kind, Model, Registry};

const NO_MASK: &str = "This model takes out what a mask shows, and reads no words. Send a `mask` that \
     is transparent there, to /images/edits, or a picture that is.";

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    form: Multipart,
) -> Result<Json<Value>, Refusal> {
    let turn = Turn::take(&registry).await?;
    let mut form = PictureForm::read(form).await?;
    let (file, mask) = (form.picture()?, form.mask.take());
    let Model::Erase(eraser) = registry.get(&form.model, Kind::Erase).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let erased = work(turn, move |is_wanted| {
        // The mask first: only its holes are kept while the picture is opened.
        let mask = mask.map(|it| opened("mask", &it, PIXELS_MAX).map(|it| Holes::of(&it)));
        let holes = mask.transpose()?;
        let picture = opened("image", &file, PIXELS_MAX)?;
        let has_mask = holes.is_some();
        eraser.erase(picture, holes, is_wanted).map_err(|error| match error {
            ToolError::NothingToErase if !has_mask => Refusal::invalid(Some("mask"), NO_MASK),
            error => refusal(error),
        })
    });
    Ok(Json(json!({"data": [{"b64_json": STANDARD.encode(erased.await?.bytes)}]})))
}
