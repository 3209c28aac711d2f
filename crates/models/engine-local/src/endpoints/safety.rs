//! `POST /v1/images/safety`: the probability, from 0 to 1, that an image has adult content.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use serde_json::{Value, json};

use super::picture_form::{PictureForm, convert_tool_error, decode_form_picture};
use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};

/// The gateway sends images at the size that the network uses, so that classification needs no
/// [`ImagePermit`](super::picture_form::ImagePermit).
const JUDGED_PIXELS_MAX: u64 = 1 << 16;

pub(crate) async fn classify_image(
    State(registry): State<Arc<ModelRegistry>>,
    form: Multipart,
) -> Result<Json<Value>, EngineRefusal> {
    let mut form = PictureForm::read(form).await?;
    let file = form.take_only_picture()?;
    let ModelRuntime::Safety(judge) = registry.get(&form.model, ModelKind::Safety).await?.model
    else {
        return Err(EngineRefusal::engine_failure("The model has another type."));
    };
    let judged = tokio::task::spawn_blocking(move || {
        judge
            .score(&decode_form_picture("image", &file, JUDGED_PIXELS_MAX)?)
            .map_err(convert_tool_error)
    });
    let score =
        judged.await.map_err(|error| EngineRefusal::engine_failure(error.to_string()))??;
    Ok(Json(json!({"adult": score})))
}
