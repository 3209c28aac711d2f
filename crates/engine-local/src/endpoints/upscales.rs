//! `POST /v1/images/upscales`: enlarges an image.

use std::sync::Arc;

use axum::extract::{Multipart, State};
use axum::http::header;
use axum::response::IntoResponse;

use super::picture_form::{PIXELS_MAX, PictureForm, PictureTurn, opened, refusal, work};
use crate::refusal::Refusal;
use crate::registry::{Model, ModelKind, Registry};

/// Maximum of the enlarged image, from the specification.
pub(super) const ENLARGED_PIXELS_MAX: usize = 16_777_216;

pub(crate) async fn create(
    State(registry): State<Arc<Registry>>,
    form: Multipart,
) -> Result<impl IntoResponse, Refusal> {
    let turn = PictureTurn::take(&registry).await?;
    let mut form = PictureForm::read(form).await?;
    let file = form.picture()?;
    let size = size(form.size.as_deref())?;
    let Model::Upscale(upscaler) = registry.get(&form.model, ModelKind::Upscale).await?.model
    else {
        return Err(Refusal::failed("The model is of another kind."));
    };
    let enlarged = work(turn, move |is_wanted| {
        let picture = opened("image", &file, PIXELS_MAX)?;
        upscaler.enlarge(&picture, size, is_wanted).map_err(refusal)
    });
    let enlarged = enlarged.await?;
    Ok(([(header::CONTENT_TYPE, enlarged.mime)], enlarged.bytes))
}

/// Width and height of the result.
fn size(text: Option<&str>) -> Result<(usize, usize), Refusal> {
    let sides = text.and_then(|it| it.split_once('x'));
    let sides = sides.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let is_possible = |(width, height): &(usize, usize)| {
        width.checked_mul(*height).is_some_and(|it| (1..=ENLARGED_PIXELS_MAX).contains(&it))
    };
    sides.filter(is_possible).ok_or_else(|| {
        let message =
            format!("Write the size as 1024x768, of at most {ENLARGED_PIXELS_MAX} pixels.");
        Refusal::invalid(Some("size"), message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_within_the_bounds() {
        assert_eq!(size(Some("1024x768")).unwrap(), (1024, 768));
        assert_eq!(size(Some("4096x4096")).unwrap(), (4096, 4096));
        for wrong in ["", "auto", "0x5", "5", "4097x4096", "-1x1", "99999999999x99999999999"] {
            assert!(size(Some(wrong)).is_err(), "{wrong}");
        }
        assert!(size(None).is_err());
    }
}
