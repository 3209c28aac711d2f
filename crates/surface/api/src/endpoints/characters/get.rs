//! `GET /characters/{slug}`: shows one character.

use wire::characters::{CharacterPath, CharacterReply};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::KeyHolder;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::characters::{detail, find_character};
use crate::input::PathParameters;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

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
