//! `/characters/{slug}/reviews`: callers' reviews of a character.

use characters::anonymize_author;
use domain::entropy::time_ordered_id;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::KeyHolder;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{JsonBody, PathParameters, QueryParameters};
use http_frame::payment::{CONSUMABLE_MIN, can_consume};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use store::character::{self as stored, CharacterWrite};
use store::write::WriteGroup;
use wire::characters::{
    CharacterPath, NewReview, Review, ReviewList, ReviewPagination, ReviewQuery, ReviewReply,
    ReviewSummary,
};

use crate::endpoints::characters::{detail, find_character};

const PATH: &str = "/characters/{slug}/reviews";
const SIZE_DEFAULT: u32 = 20;
const LOCALE_DEFAULT: &str = "en";

pub(crate) fn list_endpoint() -> ApiEndpoint {
    EndpointBuilder::get(PATH, list_character_reviews)
        .tag("Characters")
        .summary("List the reviews of a character")
        .refuses(404, "There is no such character")
        .experimental()
        .build()
}

pub(crate) fn create_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, create_character_review)
        .tag("Characters")
        .summary("Review a character; a second review replaces the first")
        .refuses(402, "The balance is below 0.10 USD")
        .refuses(404, "There is no such character")
        .build()
}

async fn list_character_reviews(
    app: SharedApp,
    call: ApiCall<KeyHolder, (PathParameters<CharacterPath>, QueryParameters<ReviewQuery>)>,
) -> Result<WithHeaders<ReviewList>, Refusal> {
    let (KeyHolder(holder), (PathParameters(path), QueryParameters(query))) =
        (call.caller, call.input);
    let caller = holder.owner.id;
    let line = find_character(&app, &path.slug, caller).await?;
    let (page, size) = (query.page.unwrap_or(1), query.page_size.unwrap_or(SIZE_DEFAULT));
    let skip = u64::from(page - 1) * u64::from(size);
    let rows = usize::try_from(size).unwrap_or(usize::MAX);
    let found = app.store.read_reviews(line.character.id, skip, rows).await;
    let found = found.map_err(Refusal::unavailable)?;
    let total_pages = found.total.div_ceil(u64::from(size));
    let summary = ReviewSummary {
        average_rating: detail::compute_average_rating(&line),
        total_reviews: line.rating_count,
    };
    let list = ReviewList {
        data: found.reviews.into_iter().map(|it| to_wire_review(it, caller)).collect(),
        object: "list",
        pagination: ReviewPagination {
            page: u64::from(page),
            page_size: u64::from(size),
            total: found.total,
            total_pages,
        },
        summary,
    };
    Ok(WithHeaders::new(list)
        .header("x-pagination-limit", size)
        .header("x-pagination-page", page)
        .header("x-pagination-total", found.total)
        .header("x-pagination-total-pages", total_pages))
}

async fn create_character_review(
    app: SharedApp,
    call: ApiCall<KeyHolder, (PathParameters<CharacterPath>, JsonBody<NewReview>)>,
) -> Result<WithHeaders<ReviewReply>, Refusal> {
    let (KeyHolder(holder), (PathParameters(path), JsonBody(new))) = (call.caller, call.input);
    let owner = holder.owner.id;
    if !can_consume(app.ledger.balances(owner).total()) {
        return Err(Refusal::insufficient_balance(format!(
            "Only accounts that can pay for a call review characters: at least ${CONSUMABLE_MIN} is \
             needed. Visit {} to add credits.",
            app.settings.public_url
        )));
    }
    let line = find_character(&app, &path.slug, owner).await?;
    let written = stored::CharacterReview {
        id: time_ordered_id(call.now, app.entropy.as_ref()),
        character: line.character.id,
        owner,
        rating: new.rating,
        message: new.message.unwrap_or_default(),
        locale: new.locale.unwrap_or_else(|| LOCALE_DEFAULT.to_owned()),
        // Account names are not shown to other accounts.
        username: anonymize_author(&holder.owner.name),
        created: call.now,
    };
    let write = CharacterWrite::PutReview(written.clone());
    let commit = app.store.commit(WriteGroup::from_write(write.into()));
    commit.await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(ReviewReply { data: to_wire_review(written, owner), object: "review" }))
}

fn to_wire_review(review: stored::CharacterReview, caller: OwnerId) -> Review {
    Review {
        character_id: review.character.to_string(),
        created_at: review.created.to_string(),
        id: review.id.to_string(),
        is_owner: review.owner == caller,
        locale: review.locale,
        message: review.message,
        rating: f64::from(review.rating),
        user_avatar_url: String::new(),
        username: review.username,
    }
}
