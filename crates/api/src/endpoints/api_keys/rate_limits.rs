//! `GET /api_keys/rate_limits`: shows the limits per minute of the key's account, by model.

use domain::catalogue::{Catalogue, Model, ModelType, Selection};
use domain::limits::tiers::{LimitClass, Tier};
use moment::Timestamp;
use store::key::ApiKey;
use wire::api_keys::{
    ApiTier, ModelRateLimits, RateLimit, RateLimitKind, RateLimits, RateLimitsReply, TierBalances,
};

use crate::app::Shared;
use crate::call::{Call, counted};
use crate::caller::KeyHolder;
use crate::endpoint::{Draft, Endpoint};
use crate::input::Nothing;
use crate::payment::can_consume;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/api_keys/rate_limits", get_rate_limits)
        .tag("API keys")
        .summary("Show rate limits and balances")
        .build()
}

async fn get_rate_limits(
    app: Shared,
    call: Call<KeyHolder, Nothing>,
) -> Result<WithHeaders<RateLimitsReply>, Refusal> {
    let KeyHolder(holder) = &call.caller;
    let tier = app.tier(Some(holder.as_ref()));
    let balances = app.ledger.balances(holder.owner.id);
    let catalogue = app.catalogue.get();
    let models = catalogue.list(Selection::All, call.now);
    let data = RateLimits {
        access_permitted: can_consume(app.ledger.spendable(&holder.payer())),
        api_tier: ApiTier { id: tier.name().to_owned(), is_charged: true },
        balances: TierBalances {
            usd: balances.usd.as_f64(),
            diem: balances.diem.as_f64(),
            bundled_credits: balances.bundled.as_f64(),
        },
        key_expiration: holder.key().and_then(expiry),
        next_epoch_begins: Timestamp::start_of_day(call.now.day() + 1).to_string(),
        rate_limits: models
            .map(|model| model_limits(model, tier))
            .chain(retrieval_limits(&catalogue, call.now, tier))
            .collect(),
    };
    Ok(WithHeaders::new(RateLimitsReply { data }))
}

fn expiry(key: &ApiKey) -> Option<String> {
    key.settings.expires.map(|expires| expires.to_string())
}

/// Limits of retrieving, which is counted apart from queueing, for all models together. Listed only
/// if the catalogue has a model of that type.
fn retrieval_limits<'a>(
    catalogue: &'a Catalogue,
    now: Timestamp,
    tier: &'a Tier,
) -> impl Iterator<Item = ModelRateLimits> + 'a {
    let paths = [
        ("/video/retrieve", ModelType::Video, LimitClass::VideoRetrieve),
        ("/audio/retrieve", ModelType::Music, LimitClass::AudioRetrieve),
    ];
    let is_offered = move |kind| catalogue.list(Selection::Type(kind), now).next().is_some();
    paths.into_iter().filter(move |(_, kind, _)| is_offered(*kind)).map(|(path, _, class)| {
        let amount = tier.allowed(class).requests;
        ModelRateLimits {
            api_model_id: counted(path),
            rate_limits: vec![RateLimit { amount, kind: RateLimitKind::Rpm }],
        }
    })
}

fn model_limits(model: &Model, tier: &Tier) -> ModelRateLimits {
    let allowed = tier.allowed(LimitClass::of(model));
    let mut rate_limits = vec![RateLimit { amount: allowed.requests, kind: RateLimitKind::Rpm }];
    if let Some(amount) = allowed.tokens {
        rate_limits.push(RateLimit { amount, kind: RateLimitKind::Tpm });
    }
    ModelRateLimits { api_model_id: model.id.clone(), rate_limits }
}
