//! `GET /api_keys/rate_limits`: shows the limits per minute of the key's account, by model.

use domain::catalogue::{Catalogue, CatalogueModel, ModelSelection, ModelType};
use domain::limits::tiers::{LimitClass, RateLimitTier};
use http_frame::app::SharedApp;
use http_frame::call::{ApiCall, limit_log_name};
use http_frame::caller::KeyHolder;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::payment::can_consume;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use moment::Timestamp;
use store::key::ApiKey;
use wire::api_keys::{
    ApiTier, ModelRateLimits, RateLimit, RateLimitKind, RateLimits, RateLimitsReply, TierBalances,
};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/api_keys/rate_limits", get_rate_limits)
        .tag("API keys")
        .summary("Show rate limits and balances")
        .build()
}

async fn get_rate_limits(
    app: SharedApp,
    call: ApiCall<KeyHolder, NoInput>,
) -> Result<WithHeaders<RateLimitsReply>, Refusal> {
    let KeyHolder(holder) = &call.caller;
    let tier = app.tier(Some(holder.as_ref()));
    let balances = app.ledger.balances(holder.owner.id);
    let catalogue = app.catalogue.get();
    let models = catalogue.list(ModelSelection::All, call.now);
    let data = RateLimits {
        access_permitted: can_consume(app.ledger.spendable(&holder.payer())),
        api_tier: ApiTier { id: tier.name().to_owned(), is_charged: true },
        balances: TierBalances {
            usd: balances.usd.as_f64(),
            diem: balances.diem.as_f64(),
            bundled_credits: balances.bundled.as_f64(),
        },
        key_expiration: holder.key().and_then(format_expiry),
        next_epoch_begins: Timestamp::start_of_day(call.now.unix_day() + 1).to_string(),
        rate_limits: models
            .map(|model| model_limits(model, tier))
            .chain(retrieval_limits(&catalogue, call.now, tier))
            .collect(),
    };
    Ok(WithHeaders::new(RateLimitsReply { data }))
}

fn format_expiry(key: &ApiKey) -> Option<String> {
    key.settings.expires.map(|expires| expires.to_string())
}

/// Limits of retrieving, which is counted apart from queueing, for all models together. Listed only
/// if the catalogue has a model of that type.
fn retrieval_limits<'a>(
    catalogue: &'a Catalogue,
    now: Timestamp,
    tier: &'a RateLimitTier,
) -> impl Iterator<Item = ModelRateLimits> + 'a {
    let paths = [
        ("/video/retrieve", ModelType::Video, LimitClass::VideoRetrieve),
        ("/audio/retrieve", ModelType::Music, LimitClass::AudioRetrieve),
    ];
    let is_offered = move |kind| catalogue.list(ModelSelection::Type(kind), now).next().is_some();
    paths.into_iter().filter(move |(_, kind, _)| is_offered(*kind)).map(|(path, _, class)| {
        let amount = tier.limits_for(class).requests;
        ModelRateLimits {
            api_model_id: limit_log_name(path),
            rate_limits: vec![RateLimit { amount, kind: RateLimitKind::Rpm }],
        }
    })
}

fn model_limits(model: &CatalogueModel, tier: &RateLimitTier) -> ModelRateLimits {
    let allowed = tier.limits_for(LimitClass::of_model(model));
    let mut rate_limits = vec![RateLimit { amount: allowed.requests, kind: RateLimitKind::Rpm }];
    if let Some(amount) = allowed.tokens {
        rate_limits.push(RateLimit { amount, kind: RateLimitKind::Tpm });
    }
    ModelRateLimits { api_model_id: model.id.clone(), rate_limits }
}
