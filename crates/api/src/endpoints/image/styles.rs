//! `GET /image/styles`: lists the style presets.

use domain::styles;
use wire::images::StyleList;

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Anyone;
use crate::endpoint::{Draft, Endpoint};
use crate::input::Nothing;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/image/styles", list_image_styles)
        .tag("Images")
        .summary("List the styles of pictures")
        .build()
}

async fn list_image_styles(
    _: Shared,
    _: Call<Anyone, Nothing>,
) -> Result<WithHeaders<StyleList>, Refusal> {
    Ok(WithHeaders::new(StyleList { object: "list", data: styles::names().collect() }))
}
