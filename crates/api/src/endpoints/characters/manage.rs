//! `/admin/characters`: lets the operator list, add, change and remove characters.

use characters::{Card, portrait, slug};
use domain::entropy::time_ordered_id;
use schema_check::Faults;
use serde_json::{Map, Value};
use store::character::{
    Character, CharacterContent, CharacterLine, CharacterPicture, CharacterWrite,
};
use store::error::StoreError;
use store::write::Group;
use wire::characters::{
    CharacterChange, CharacterList, CharacterListQuery, CharacterPath, CharacterRemoved,
    ManagedCharacter, NewCharacter,
};

use crate::app::{App, Shared};
use crate::call::Call;
use crate::caller::Operator;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::characters::{detail, find, list};
use crate::input::{Json, Path, Query};
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const ALL: &str = "/admin/characters";
const ONE: &str = "/admin/characters/{slug}";
/// If a slug is taken, numbers up to this one are appended to find a free slug.
const NUMBERS_MAX: usize = 1_000;

macro_rules! endpoint {
    ($name:ident, $draft:expr, $summary:literal) => {
        pub(crate) fn $name() -> Endpoint {
            $draft
                .tag("Characters")
                .summary($summary)
                .refuses(404, "There is no such character")
                .build()
        }
    };
}

endpoint!(list_endpoint, Draft::get(ALL, list_managed_characters), "List characters to manage");
endpoint!(create_endpoint, Draft::post(ALL, create_character), "Add a character from a card");
endpoint!(get_endpoint, Draft::get(ONE, get_managed_character), "Get a character with its card");
endpoint!(change_endpoint, Draft::patch(ONE, update_character), "Change a character");
endpoint!(remove_endpoint, Draft::delete(ONE, delete_character), "Remove a character");

async fn list_managed_characters(
    app: Shared,
    call: Call<Operator, Query<CharacterListQuery>>,
) -> Result<WithHeaders<CharacterList>, Refusal> {
    let (Operator(holder), Query(query)) = (call.caller, call.input);
    let found = app.store.characters(list::read(query)?, Some(holder.owner.id)).await;
    let found = found.map_err(Refusal::unavailable)?;
    let data = found.into_iter().map(|line| detail::character(&app, line)).collect();
    Ok(WithHeaders::new(CharacterList { data, object: "list" }))
}

async fn create_character(
    app: Shared,
    call: Call<Operator, Json<NewCharacter>>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (Operator(holder), Json(new)) = (call.caller, call.input);
    let card = card(new.card)?;
    let wanted = slug(new.slug.as_deref().unwrap_or(&card.name));
    let id = time_ordered_id(call.now, app.entropy.as_ref());
    for number in 1..=NUMBERS_MAX {
        let slug = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
        let (character, content) = Character::of(&card, id, slug.clone(), call.now);
        let picture = CharacterPicture {
            media_type: "image/svg+xml".to_owned(),
            bytes: portrait(&card.name).into_bytes(),
        };
        let content = CharacterContent { picture: Some(picture), ..content };
        let write = CharacterWrite::Add { character, content };
        match app.store.commit(Group::of(write.into())).await {
            Ok(()) => return managed(&app, find(&app, &slug, holder.owner.id).await?).await,
            Err(StoreError::Duplicate(_)) => {}
            Err(error) => return Err(Refusal::unavailable(error)),
        }
    }
    let message = "Too many characters have this name; send another `slug`.";
    Err(Refusal::bad_request("Name taken", message))
}

async fn get_managed_character(
    app: Shared,
    call: Call<Operator, Path<CharacterPath>>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (Operator(holder), Path(path)) = (call.caller, call.input);
    managed(&app, find(&app, &path.slug, holder.owner.id).await?).await
}

async fn update_character(
    app: Shared,
    call: Call<Operator, (Path<CharacterPath>, Json<CharacterChange>)>,
) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let (Operator(holder), (Path(path), Json(change))) = (call.caller, call.input);
    let line = find(&app, &path.slug, holder.owner.id).await?;
    let mut character = line.character;
    let mut content = content(&app, &character).await?;
    if let Some(sent) = change.card {
        let card = card(sent)?;
        let made = Character::of(&card, character.id, character.slug.clone(), call.now);
        character = Character { created: character.created, ..made.0 };
        content = made.1;
    }
    character.adult = change.adult.unwrap_or(character.adult);
    character.featured = change.featured.unwrap_or(character.featured);
    character.web_enabled = change.web_enabled.unwrap_or(character.web_enabled);
    if let Some(model) = change.model_id {
        character.model = Some(model).filter(|model| !model.is_empty());
    }
    character.updated = call.now;
    content.words = character.words();
    let slug = character.slug.clone();
    let write = CharacterWrite::Change { character, content };
    app.store.commit(Group::of(write.into())).await.map_err(Refusal::unavailable)?;
    managed(&app, find(&app, &slug, holder.owner.id).await?).await
}

async fn delete_character(
    app: Shared,
    call: Call<Operator, Path<CharacterPath>>,
) -> Result<WithHeaders<CharacterRemoved>, Refusal> {
    let (Operator(holder), Path(path)) = (call.caller, call.input);
    let line = find(&app, &path.slug, holder.owner.id).await?;
    let write = CharacterWrite::Remove(line.character.id);
    let commit = app.store.commit(Group::of(write.into()));
    commit.await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(CharacterRemoved { success: true }))
}

fn card(sent: Map<String, Value>) -> Result<Card, Refusal> {
    Card::from_json(Value::Object(sent)).map_err(|fault| {
        let mut faults = Faults::default();
        faults.at(["card"]).push(fault.to_string());
        Refusal::invalid(&faults)
    })
}

async fn content(app: &App, character: &Character) -> Result<CharacterContent, Refusal> {
    let found = app.store.character_content(character.id).await.map_err(Refusal::unavailable)?;
    found.ok_or_else(|| Refusal::internal("a character without its card"))
}

async fn managed(app: &App, line: CharacterLine) -> Result<WithHeaders<ManagedCharacter>, Refusal> {
    let card = content(app, &line.character).await?.card;
    let card = serde_json::from_str(&card).map_err(Refusal::internal)?;
    let data = detail::character(app, line);
    Ok(WithHeaders::new(ManagedCharacter { data, card, object: "character" }))
}
