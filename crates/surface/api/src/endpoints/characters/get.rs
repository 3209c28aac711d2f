//! `GET /characters/{slug}`: shows one character.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::KeyHolder;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::characters::{CharacterPath, CharacterReply};

use crate::endpoints::characters::{detail, find_character};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/characters/{slug}", get_character)
        .tag("Characters")
        .summary("Get a character")
        .refuses(404, "There is no such character")
        .build()
}

async fn get_character(
    app: SharedApp,
    call: ApiCall<KeyHolder, PathParameters<CharacterPath>>,
) -> Result<WithHeaders<CharacterReply>, Refusal> {
    let (KeyHolder(holder), PathParameters(path)) = (call.caller, call.input);
    let line = find_character(&app, &path.slug, holder.owner.id).await?;
    Ok(WithHeaders::new(CharacterReply {
        data: detail::to_wire_character(&app, line),
        object: "character",
    }))
}
