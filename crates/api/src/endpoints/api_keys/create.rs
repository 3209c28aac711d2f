//! `POST /api_keys`: creates a key. Its secret is shown in this response only.

use credits::OwnerId;
use domain::access::KeyKind;
use domain::limits::tiers::LimitClass;
use moment::Timestamp;
use schema_check::Faults;
use store::error::StoreError;
use store::key::KeySettings;
use wire::api_keys::{ApiKeyType, LimitPeriod, MintedApiKey, NewApiKey, NewApiKeyReply};

use crate::app::{App, Shared};
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::api_keys::{detail, terms};
use crate::input::Json;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/api_keys", create_api_key)
        .tag("API keys")
        .summary("Create an API key")
        .limit(LimitClass::KeyCreation)
        .build()
}

async fn create_api_key(
    app: Shared,
    call: Call<Admin, Json<NewApiKey>>,
) -> Result<WithHeaders<NewApiKeyReply>, Refusal> {
    let Admin(holder) = &call.caller;
    let Json(wanted) = call.input;
    make(&app, holder.owner.id, wanted, call.now).await
}

/// Creates a key of an owner. The response has its secret.
pub(super) async fn make(
    app: &App,
    owner: OwnerId,
    wanted: NewApiKey,
    now: Timestamp,
) -> Result<WithHeaders<NewApiKeyReply>, Refusal> {
    let mut faults = Faults::default();
    let limits = terms::limits(&wanted.consumption_limit.unwrap_or_default(), &mut faults);
    let expires = terms::expiry(&wanted.expires_at.unwrap_or_default(), now, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;

    let kind = match wanted.api_key_type {
        ApiKeyType::Inference => KeyKind::Inference,
        ApiKeyType::Admin => KeyKind::Admin,
    };
    let settings = KeySettings {
        description: wanted.description,
        limit_usd: limits.usd,
        limit_diem: limits.diem,
        limit_period: terms::period(wanted.limit_period.unwrap_or(LimitPeriod::Epoch)),
        expires,
        model_privacy: terms::privacy(wanted.model_privacy.unwrap_or_default()),
    };
    let (key, secret) = app.keys.create(owner, kind, settings).await.map_err(refuse_creation)?;
    let data = MintedApiKey {
        api_key: secret,
        api_key_type: detail::kind(key.kind),
        consumption_limit: detail::limits(&key),
        limit_period: detail::period(key.settings.limit_period),
        expires_at: key.settings.expires.map(|expires| expires.to_string()),
        id: key.id.0.to_string(),
        model_privacy: detail::privacy(key.settings.model_privacy),
        description: key.settings.description,
    };
    Ok(WithHeaders::new(NewApiKeyReply { success: true, data }))
}

fn refuse_creation(error: StoreError) -> Refusal {
    match error {
        StoreError::TooMany { .. } => Refusal::bad_request(
            "Too many API keys",
            "The account has 500 active API keys, the most allowed. Revoke one first.",
        ),
        other => Refusal::unavailable(other),
    }
}
