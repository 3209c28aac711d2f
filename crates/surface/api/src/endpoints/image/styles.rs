//! `GET /image/styles`: lists the style presets.

use domain::styles;
use wire::images::StyleList;

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::AnyCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::input::NoInput;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/image/styles", list_image_styles)
        .tag("Images")
        .summary("List the styles of pictures")
        .build()
}

async fn list_image_styles(
    _: SharedApp,
    _: ApiCall<AnyCaller, NoInput>,
) -> Result<WithHeaders<StyleList>, Refusal> {
    Ok(WithHeaders::new(StyleList { object: "list", data: styles::style_names().collect() }))
}
