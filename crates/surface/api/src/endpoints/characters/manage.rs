//! `/admin/characters`: lets the operator list, add, change and remove characters.

use characters::{CharacterCard, draw_portrait, to_slug};
use domain::entropy::time_ordered_id;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::OperatorCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{JsonBody, PathParameters, QueryParameters};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schema_check::ValidationFaults;
use serde_json::{Map, Value};
use store::character::{
    CharacterContent, CharacterPicture, CharacterWrite, ListedCharacter, StoredCharacter,
};
use store::error::StoreError;
use store::write::WriteGroup;
use wire::characters::{
    CharacterChange, CharacterList, CharacterListQuery, CharacterPath, CharacterRemoved,
    ManagedCharacter, NewCharacter,
};

use crate::endpoints::characters::{detail, find_character, list};

const ALL: &str = "/admin/characters";
const ONE: &str = "/admin/characters/{slug}";
/// If a slug is taken, numbers up to this one are appended to find a free slug.
const NUMBERS_MAX: usize = 1_000;

macro_rules! endpoint {
    ($name:ident, $draft:expr, $summary:literal) => {
        pub(crate) fn $name() -> ApiEndpoint {
            $draft
                .tag("Characters")
                .summary($summary)
                .refuses(404, "There is no such character")
                .build()
        }
    };
}

endpoint!(
    list_endpoint,
    EndpointBuilder::get(ALL, list_managed_characters),
    "List characters to manage"
);
endpoint!(
    create_endpoint,
    EndpointBuilder::post(ALL, create_character),
    "Add a character from a card"
);
endpoint!(
    get_endpoint,
    EndpointBuilder::get(ONE, get_managed_character),
    "Get a character with its card"
);
endpoint!(change_endpoint, EndpointBuilder::patch(ONE, update_character), "Change a character");
endpoint!(remove_endpoint, EndpointBuilder::delete(ONE, delete_character), "Remove a character");

async fn list_managed_characters(
    app: SharedApp,
    call: ApiCall<OperatorCaller, QueryParameters<CharacterListQuery>>,
) -> Result<WithHeaders<CharacterList>, Refusal> {
    let (OperatorCaller(holder), QueryParameters(query)) = (call.caller, call.input);
    let found =
        app.store.list_characters(list::parse_list_query(query)?, Some(holder.owner.id)).await;
    let found = found.map_err(Refusal::unavailable)?;
    let data = found.into_iter().map(|line| detail::to_wire_character(&app, line)).collect();
    Ok(WithHeaders::new(CharacterList { data, object: "list" }))
}

async fn create_character(
    app: SharedApp,
    call: ApiCall<OperatorCaller, JsonBody<NewCharacter>>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (OperatorCaller(holder), JsonBody(new)) = (call.caller, call.input);
    let card = parse_card(new.card)?;
    let wanted = to_slug(new.slug.as_deref().unwrap_or(&card.name));
    let id = time_ordered_id(call.now, app.entropy.as_ref());
    for number in 1..=NUMBERS_MAX {
        let slug = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
        let (character, content) = StoredCharacter::from_card(&card, id, slug.clone(), call.now);
        let picture = CharacterPicture {
            media_type: "image/svg+xml".to_owned(),
            bytes: draw_portrait(&card.name).into_bytes(),
        };
        let content = CharacterContent { picture: Some(picture), ..content };
        let write = CharacterWrite::Add { character, content };
        match app.store.commit(WriteGroup::from_write(write.into())).await {
            Ok(()) => {
                return load_managed_character(
                    &app,
                    find_character(&app, &slug, holder.owner.id).await?,
                )
                .await;
            }
            Err(StoreError::Duplicate(_)) => {}
            Err(error) => return Err(Refusal::unavailable(error)),
        }
    }
    let message = "Too many characters have this name; send another `slug`.";
    Err(Refusal::bad_request("Name taken", message))
}

async fn get_managed_character(
    app: SharedApp,
    call: ApiCall<OperatorCaller, PathParameters<CharacterPath>>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (OperatorCaller(holder), PathParameters(path)) = (call.caller, call.input);
    load_managed_character(&app, find_character(&app, &path.slug, holder.owner.id).await?).await
}

async fn update_character(
    app: SharedApp,
    call: ApiCall<OperatorCaller, (PathParameters<CharacterPath>, JsonBody<CharacterChange>)>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (OperatorCaller(holder), (PathParameters(path), JsonBody(change))) =
        (call.caller, call.input);
    let line = find_character(&app, &path.slug, holder.owner.id).await?;
    let mut character = line.character;
    let mut content = load_content(&app, &character).await?;
    if let Some(sent) = change.card {
        let card = parse_card(sent)?;
        let made =
            StoredCharacter::from_card(&card, character.id, character.slug.clone(), call.now);
        character = StoredCharacter { created: character.created, ..made.0 };
        content = made.1;
    }
    character.adult = change.adult.unwrap_or(character.adult);
    character.featured = change.featured.unwrap_or(character.featured);
    character.web_enabled = change.web_enabled.unwrap_or(character.web_enabled);
    if let Some(model) = change.model_id {
        character.model = Some(model).filter(|model| !model.is_empty());
    }
    character.updated = call.now;
    content.words = character.search_words();
    let slug = character.slug.clone();
    let write = CharacterWrite::Change { character, content };
    app.store.commit(WriteGroup::from_write(write.into())).await.map_err(Refusal::unavailable)?;
    load_managed_character(&app, find_character(&app, &slug, holder.owner.id).await?).await
}

async fn delete_character(
    app: SharedApp,
    call: ApiCall<OperatorCaller, PathParameters<CharacterPath>>,
) -> Result<WithHeaders<CharacterRemoved>, Refusal> {
    let (OperatorCaller(holder), PathParameters(path)) = (call.caller, call.input);
    let line = find_character(&app, &path.slug, holder.owner.id).await?;
    let write = CharacterWrite::Remove(line.character.id);
    let commit = app.store.commit(WriteGroup::from_write(write.into()));
    commit.await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(CharacterRemoved { success: true }))
}

fn parse_card(sent: Map<String, Value>) -> Result<CharacterCard, Refusal> {
    CharacterCard::from_json(Value::Object(sent)).map_err(|fault| {
        let mut faults = ValidationFaults::default();
        faults.at(["card"]).push(fault.to_string());
        Refusal::invalid_request(&faults)
    })
}

async fn load_content(
    app: &AppState,
    character: &StoredCharacter,
) -> Result<CharacterContent, Refusal> {
    let found = app.store.character_content(character.id).await.map_err(Refusal::unavailable)?;
    found.ok_or_else(|| Refusal::internal("a character without its card"))
}

async fn load_managed_character(
    app: &AppState,
    line: ListedCharacter,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let card = load_content(app, &line.character).await?.card;
    let card = serde_json::from_str(&card).map_err(Refusal::internal)?;
    let data = detail::to_wire_character(app, line);
    Ok(WithHeaders::new(ManagedCharacter { data, card, object: "character" }))
}
