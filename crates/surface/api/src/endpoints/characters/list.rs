//! `GET /characters`: lists the characters that match the query.

use characters::{SearchTerm, search_terms};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::KeyHolder;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schema_check::ValidationFaults;
use store::character::{CharacterQuery, CharacterSort};
use wire::billing::SortOrder;
use wire::characters::{self as wire_characters, CharacterList, CharacterListQuery};

use crate::endpoints::characters::detail;

const LIMIT_DEFAULT: u32 = 50;
/// Items per list parameter.
const ITEMS_MAX: usize = 20;
const TAG_CHARS_MAX: usize = 100;
const MODEL_CHARS_MAX: usize = 200;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/characters", list_characters)
        .tag("Characters")
        .summary("List characters")
        .experimental()
        .build()
}

async fn list_characters(
    app: SharedApp,
    call: ApiCall<KeyHolder, QueryParameters<CharacterListQuery>>,
) -> Result<WithHeaders<CharacterList>, Refusal> {
    let (KeyHolder(holder), QueryParameters(query)) = (call.caller, call.input);
    let query = parse_list_query(query)?;
    let found = app.store.list_characters(query, Some(holder.owner.id)).await;
    let found = found.map_err(Refusal::unavailable)?;
    let data = found.into_iter().map(|line| detail::to_wire_character(&app, line)).collect();
    Ok(WithHeaders::new(CharacterList { data, object: "list" }))
}

pub(super) fn parse_list_query(query: CharacterListQuery) -> Result<CharacterQuery, Refusal> {
    let mut faults = ValidationFaults::default();
    let mut tags_any = parse_items("tags", query.tags, TAG_CHARS_MAX, &mut faults);
    tags_any.extend(parse_items("categories", query.categories, TAG_CHARS_MAX, &mut faults));
    let models = parse_items("modelId", query.model_id, MODEL_CHARS_MAX, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let (mut words, mut tags_all) = (Vec::new(), Vec::new());
    for term in search_terms(query.search.as_deref().unwrap_or_default()) {
        match term {
            SearchTerm::Word(word) => words.push(word),
            SearchTerm::Tag(tag) => tags_all.push(tag),
        }
    }
    Ok(CharacterQuery {
        adult: query.is_adult == Some(true),
        pro: query.is_pro,
        web_enabled: query.is_web_enabled,
        tags_any: tags_any.into_iter().map(|tag| tag.to_lowercase()).collect(),
        tags_all,
        models,
        words,
        sort: query.sort_by.map_or(CharacterSort::Imports, from_wire_sort),
        ascending: query.sort_order == Some(SortOrder::Asc),
        limit: usize::try_from(query.limit.unwrap_or(LIMIT_DEFAULT)).unwrap_or(usize::MAX),
        offset: query.offset.unwrap_or(0),
    })
}

/// A list parameter: repeated, separated by commas, or both.
fn parse_items(
    field: &'static str,
    sent: Option<Vec<String>>,
    chars_max: usize,
    faults: &mut ValidationFaults,
) -> Vec<String> {
    let sent = sent.unwrap_or_default();
    let items = sent.iter().flat_map(|text| text.split(',')).map(str::trim);
    let items: Vec<String> = items.filter(|it| !it.is_empty()).map(str::to_owned).collect();
    if ITEMS_MAX < items.len() {
        faults.at([field]).push("Array must contain at most 20 element(s)");
    }
    if items.iter().any(|item| chars_max < item.chars().count()) {
        faults.at([field]).push(format!("Each must contain at most {chars_max} character(s)"));
    }
    items
}

fn from_wire_sort(sort: wire_characters::CharacterSort) -> CharacterSort {
    match sort {
        wire_characters::CharacterSort::Featured => CharacterSort::Featured,
        wire_characters::CharacterSort::HighestRating => CharacterSort::HighestRating,
        wire_characters::CharacterSort::HighlyRated => CharacterSort::HighlyRated,
        wire_characters::CharacterSort::HighlyRatedAndRecent => CharacterSort::HighlyRatedAndRecent,
        wire_characters::CharacterSort::Imports => CharacterSort::Imports,
        wire_characters::CharacterSort::MostRecent => CharacterSort::MostRecent,
        wire_characters::CharacterSort::RatingCount => CharacterSort::RatingCount,
    }
}
