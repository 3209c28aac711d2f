//! `GET /characters/{slug}`: shows one character.

use wire::characters::{CharacterPath, CharacterReply};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::KeyHolder;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::characters::{detail, find};
use crate::input::Path;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/characters/{slug}", get_character)
        .tag("Characters")
        .summary("Get a character")
        .refuses(404, "There is no such character")
        .build()
}

async fn get_character(
    app: Shared,
    call: Call<KeyHolder, Path<CharacterPath>>,
) -> Result<WithHeaders<CharacterReply>, Refusal> {
    let (KeyHolder(holder), Path(path)) = (call.caller, call.input);
    let line = find(&app, &path.slug, holder.owner.id).await?;
    Ok(WithHeaders::new(CharacterReply {
        data: detail::character(&app, line),
        object: "character",
    }))
}
