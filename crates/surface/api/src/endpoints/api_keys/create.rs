//! `POST /api_keys`: creates a key. Its secret is shown in this response only.

use domain::access::KeyKind;
use domain::limits::tiers::LimitClass;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use moment::Timestamp;
use schema_check::ValidationFaults;
use store::error::StoreError;
use store::key::KeySettings;
use wire::api_keys::{ApiKeyType, LimitPeriod, MintedApiKey, NewApiKey, NewApiKeyReply};

use crate::endpoints::api_keys::{detail, terms};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/api_keys", create_api_key)
        .tag("API keys")
        .summary("Create an API key")
        .limit(LimitClass::KeyCreation)
        .build()
}

async fn create_api_key(
    app: SharedApp,
    call: ApiCall<AdminCaller, JsonBody<NewApiKey>>,
) -> Result<WithHeaders<NewApiKeyReply>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let JsonBody(wanted) = call.input;
    create_owner_key(&app, holder.owner.id, wanted, call.now).await
}

/// Creates a key of an owner. The response has its secret.
pub(super) async fn create_owner_key(
    app: &AppState,
    owner: OwnerId,
    wanted: NewApiKey,
    now: Timestamp,
) -> Result<WithHeaders<NewApiKeyReply>, Refusal> {
    let mut faults = ValidationFaults::default();
    let limits = terms::parse_limits(&wanted.consumption_limit.unwrap_or_default(), &mut faults);
    let expires = terms::parse_expiry(&wanted.expires_at.unwrap_or_default(), now, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;

    let kind = match wanted.api_key_type {
        ApiKeyType::Inference => KeyKind::Inference,
        ApiKeyType::Admin => KeyKind::Admin,
    };
    let settings = KeySettings {
        description: wanted.description,
        limit_usd: limits.usd,
        limit_diem: limits.diem,
        limit_period: terms::from_wire_period(wanted.limit_period.unwrap_or(LimitPeriod::Epoch)),
        expires,
        model_privacy: terms::from_wire_privacy(wanted.model_privacy.unwrap_or_default()),
    };
    let (key, secret) = app.keys.create(owner, kind, settings).await.map_err(refuse_creation)?;
    let data = MintedApiKey {
        api_key: secret,
        api_key_type: detail::to_wire_key_type(key.kind),
        consumption_limit: detail::to_wire_limits(&key),
        limit_period: detail::to_wire_period(key.settings.limit_period),
        expires_at: key.settings.expires.map(|expires| expires.to_string()),
        id: key.id.0.to_string(),
        model_privacy: detail::to_wire_privacy(key.settings.model_privacy),
        description: key.settings.description,
    };
    Ok(WithHeaders::new(NewApiKeyReply { success: true, data }))
}

fn refuse_creation(error: StoreError) -> Refusal {
    match error {
        StoreError::TooMany { .. } => Refusal::bad_request(
            "Too many API keys",
            "The account has the maximum of 500 active API keys. Revoke one first.",
        ),
        other => Refusal::unavailable(other),
    }
}
