//! `POST /v1/images/safety`: the probability, from 0 to 1, that an image has adult content.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use serde_json::{Value, json};

use super::picture_form::{PictureForm, opened, refusal};
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

/// The gateway sends images at the size that the network uses, so that classification needs no
/// [`PictureTurn`](super::picture_form::PictureTurn).
const JUDGED_PIXELS_MAX: u64 = 1 << 16;

pub(crate) async fn judge(
    State(registry): State<Arc<Registry>>,
    form: Multipart,
) -> Result<Json<Value>, Refusal> {
    let mut form = PictureForm::read(form).await?;
    let file = form.picture()?;
    let Model::Safety(judge) = registry.get(&form.model, ModelKind::Safety).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let judged = tokio::task::spawn_blocking(move || {
        judge.score(&opened("image", &file, JUDGED_PIXELS_MAX)?).map_err(refusal)
    });
    let score = judged.await.map_err(|error| Refusal::failed(error.to_string()))??;
    Ok(Json(json!({"adult": score})))
}
