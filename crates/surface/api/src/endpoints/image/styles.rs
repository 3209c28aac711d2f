//! `GET /image/styles`: lists the style presets.

use domain::styles;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::images::StyleList;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/image/styles", list_image_styles)
        .tag("Images")
        .summary("List image styles")
        .build()
}

async fn list_image_styles(
    _: SharedApp,
    _: ApiCall<AnyCaller, NoInput>,
) -> Result<WithHeaders<StyleList>, Refusal> {
    Ok(WithHeaders::new(StyleList { object: "list", data: styles::style_names().collect() }))
}
