//! `GET /characters/{slug}/photo`: the portrait of a character, public.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use http_frame::reply::HandlerReply;
use schemars::SchemaGenerator;
use store::character::CharacterPicture;
use wire::characters::CharacterPath;

/// An SVG may contain scripts; this policy keeps browsers from running them.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const TYPES: [&str; 4] = ["image/svg+xml", "image/png", "image/jpeg", "image/webp"];

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/characters/{slug}/photo", get_character_photo)
        .tag("Characters")
        .summary("Get a character's portrait")
        .refuses(404, "There is no such character")
        .build()
}

async fn get_character_photo(
    app: SharedApp,
    call: ApiCall<AnyCaller, PathParameters<CharacterPath>>,
) -> Result<CharacterPhoto, Refusal> {
    let PathParameters(path) = call.input;
    let found = app.store.character_picture(&path.slug).await.map_err(Refusal::unavailable)?;
    let found = found.filter(|picture| TYPES.contains(&picture.media_type.as_str()));
    found.map(CharacterPhoto).ok_or_else(|| {
        Refusal::not_found(
            "Character not found",
            "The character does not exist, or has no portrait",
        )
    })
}

struct CharacterPhoto(CharacterPicture);

impl HandlerReply for CharacterPhoto {
    fn into_response(self) -> Result<Response, Refusal> {
        let CharacterPhoto(CharacterPicture { media_type, bytes }) = self;
        let mut response = Response::new(bytes.into());
        let media_type = HeaderValue::try_from(media_type).map_err(Refusal::internal)?;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, media_type);
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let for_an_hour = HeaderValue::from_static("public, max-age=3600");
        headers.insert(header::CACHE_CONTROL, for_an_hour);
        Ok(response)
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        for media_type in TYPES {
            operation.file_reply(media_type);
        }
    }
}
