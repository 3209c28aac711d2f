//! `POST /v1/images/cutouts`: removes the background of an image.

use std::sync::Arc;

use axum::extract::{Multipart, State};
use axum::http::header;
use axum::response::IntoResponse;

use super::picture_form::{PIXELS_MAX, PictureForm, PictureTurn, opened, refusal, work};
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    form: Multipart,
) -> Result<impl IntoResponse, Refusal> {
    let turn = PictureTurn::take(&registry).await?;
    let mut form = PictureForm::read(form).await?;
    let file = form.picture()?;
    let Model::CutOut(cutter) = registry.get(&form.model, ModelKind::CutOut).await?.model else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let cut = work(turn, move |is_wanted| {
        let picture = opened("image", &file, PIXELS_MAX)?;
        cutter.cut_out(picture, is_wanted).map_err(refusal)
    });
    let cut = cut.await?;
    Ok(([(header::CONTENT_TYPE, cut.mime)], cut.bytes))
}
