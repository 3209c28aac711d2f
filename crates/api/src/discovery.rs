//! What a caller without a credential is told: the two ways to pay.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use wire::x402::{ApiKeyOption, AuthOptions, PaidResource, PaymentDiscovery, WalletOption};

use crate::app::App;
use crate::refusal::Refusal;

const X402_VERSION: u8 = 2;

/// The refusal, with the requirements in the header too: x402 clients read them nowhere else.
pub(crate) fn refuse(app: &App) -> Refusal {
    let public_url = &app.settings.public_url;
    let docs = format!("{public_url}{}/openapi.json", crate::BASE_PATH);
    let body = PaymentDiscovery {
        x402_version: X402_VERSION,
        error: "Authentication required".to_owned(),
        code: "AUTHENTICATION_REQUIRED",
        resource: PaidResource {
            url: format!("{public_url}{}", crate::BASE_PATH),
            description: "service API",
            mime_type: "application/json",
        },
        accepts: Vec::new(),
        auth_options: AuthOptions {
            api_key: ApiKeyOption {
                header: "Authorization: Bearer YOUR_API_KEY",
                get_key: public_url.clone(),
                docs: docs.clone(),
            },
            x402_wallet: WalletOption {
                header: "SIGN-IN-WITH-X",
                legacy_header: "X-Sign-In-With-X",
                top_up: "POST /api/v1/x402/top-up",
                docs,
            },
        },
    };
    let required = json!({
        "x402Version": body.x402_version,
        "error": body.error,
        "resource": body.resource,
        "accepts": body.accepts,
    });
    let header = STANDARD.encode(required.to_string());
    Refusal::discovery(&body, &header)
}
