//! `/characters/{slug}/reviews`: callers' reviews of a character.

use characters::anonymous;
use credits::OwnerId;
use domain::entropy::time_ordered_id;
use store::character::{self as stored, CharacterWrite};
use store::write::Group;
use wire::characters::{
    CharacterPath, NewReview, Review, ReviewList, ReviewPagination, ReviewQuery, ReviewReply,
    ReviewSummary,
};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::KeyHolder;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::characters::{detail, find};
use crate::input::{Json, Path, Query};
use crate::payment::{CONSUMABLE_MIN, can_consume};
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const PATH: &str = "/characters/{slug}/reviews";
const SIZE_DEFAULT: u32 = 20;
const LOCALE_DEFAULT: &str = "en";

pub(crate) fn list_endpoint() -> Endpoint {
    Draft::get(PATH, list_character_reviews)
        .tag("Characters")
        .summary("List what callers say of a character")
        .refuses(404, "There is no such character")
        .experimental()
        .build()
}

pub(crate) fn create_endpoint() -> Endpoint {
    Draft::post(PATH, create_character_review)
        .tag("Characters")
        .summary("Say something of a character; a second review replaces the first")
        .refuses(402, "The account cannot pay for a call")
        .refuses(404, "There is no such character")
        .build()
}

async fn list_character_reviews(
    app: Shared,
    call: Call<KeyHolder, (Path<CharacterPath>, Query<ReviewQuery>)>,
) -> Result<WithHeaders<ReviewList>, Refusal> {
    let (KeyHolder(holder), (Path(path), Query(query))) = (call.caller, call.input);
    let caller = holder.owner.id;
    let line = find(&app, &path.slug, caller).await?;
    let (page, size) = (query.page.unwrap_or(1), query.page_size.unwrap_or(SIZE_DEFAULT));
    let skip = u64::from(page - 1) * u64::from(size);
    let rows = usize::try_from(size).unwrap_or(usize::MAX);
    let found = app.store.reviews(line.character.id, skip, rows).await;
    let found = found.map_err(Refusal::unavailable)?;
    let total_pages = found.total.div_ceil(u64::from(size));
    let summary =
        ReviewSummary { average_rating: detail::average(&line), total_reviews: line.rating_count };
    let list = ReviewList {
        data: found.reviews.into_iter().map(|it| review(it, caller)).collect(),
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
    app: Shared,
    call: Call<KeyHolder, (Path<CharacterPath>, Json<NewReview>)>,
) -> Result<WithHeaders<ReviewReply>, Refusal> {
    let (KeyHolder(holder), (Path(path), Json(new))) = (call.caller, call.input);
    let owner = holder.owner.id;
    if !can_consume(app.ledger.balances(owner).total()) {
        return Err(Refusal::insufficient_balance(format!(
            "Only accounts that can pay for a call review characters: at least ${CONSUMABLE_MIN} is \
             needed. Visit {} to add credits.",
            app.settings.public_url
        )));
    }
    let line = find(&app, &path.slug, owner).await?;
    let written = stored::Review {
        id: time_ordered_id(call.now, app.entropy.as_ref()),
        character: line.character.id,
        owner,
        rating: new.rating,
        message: new.message.unwrap_or_default(),
        locale: new.locale.unwrap_or_else(|| LOCALE_DEFAULT.to_owned()),
        // Account names are not shown to other accounts.
        username: anonymous(&holder.owner.name),
        created: call.now,
    };
    let write = CharacterWrite::PutReview(written.clone());
    let commit = app.store.commit(Group::of(write.into()));
    commit.await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(ReviewReply { data: review(written, owner), object: "review" }))
}

fn review(review: stored::Review, caller: OwnerId) -> Review {
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
