//! The ways to pay, for callers without a credential or with an empty wallet.

use access::CredentialHolder;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use money::Nano;
use serde_json::{Value, json};
use wallet::sign_in::WalletChallenge;
use wallet::{PaymentTerms, TOKEN_DECIMALS};
use wire::wallets::{TopUpInstructions, TopUpNeeded};
use wire::x402::{
    ApiKeyOption, AuthOptions, DiscoveryExtensions, PaidResource, PaymentDiscovery, PaymentOption,
    WalletOption,
};

use crate::app::AppState;
use crate::base_paths::BASE_PATH;
use crate::payment::{CONSUMABLE_MIN, can_consume};
use crate::refusal::Refusal;
use crate::refusal::anthropic_error::is_messages_path;
use crate::request_head::RequestHead;
use crate::wallet_challenge::{CalledResource, build_challenge, to_sign_in_challenge};

pub const X402_VERSION: u8 = 2;

/// Above the minimum, so that the caller need not top up again at once.
const SUGGESTED_TOP_UP: Nano = Nano::from_units(10);

/// 402 for a caller without a credential: how to get one, or how to pay without one.
/// On the paths of Anthropic's API it is 401 where wallets cannot pay: its clients know no 402 for
/// a missing key.
pub(crate) fn refuse_without_credential(app: &AppState, arrival: &RequestHead<'_>) -> Refusal {
    if app.wallets.payments.is_none() && is_messages_path(arrival.uri.path()) {
        return Refusal::unauthenticated(
            "Authentication required. Send the header x-api-key or Authorization: Bearer <API_KEY>.",
        );
    }
    let accepts = app.wallets.accepts();
    let place = CalledResource::from_request(app, arrival);
    let is_wallet_welcome = app.wallets.payments.is_some();
    let challenge = is_wallet_welcome.then(|| build_challenge(app, arrival, &place));
    ask_to_authenticate(app, &place, accepts, challenge.as_ref())
}

/// 402 if only a sign-in is missing and nothing is to be paid.
pub(crate) fn ask_to_sign_in(app: &AppState, arrival: &RequestHead<'_>) -> Refusal {
    let place = CalledResource::from_request(app, arrival);
    ask_to_authenticate(app, &place, Vec::new(), Some(&build_challenge(app, arrival, &place)))
}

/// 402 for a signed-in wallet whose balance is too low to call anything.
pub(crate) fn refuse_low_balance(
    app: &AppState,
    arrival: &RequestHead<'_>,
    holder: &CredentialHolder,
) -> Result<(), Refusal> {
    let balance = app.ledger.balances(holder.owner.id).total();
    if can_consume(balance) {
        return Ok(());
    }
    let message = format!(
        "The wallet has ${balance} and needs at least ${CONSUMABLE_MIN}. Top up with POST \
         /api/v1/x402/top-up."
    );
    Err(ask_to_top_up(app, arrival, holder, message).unwrap_or_else(|| {
        Refusal::insufficient_balance(format!(
            "Insufficient balance: the wallet has ${balance} and needs at least ${CONSUMABLE_MIN}. \
             This service takes no wallet payments; ask its operator for credit."
        ))
    }))
}

/// 402 for a signed-in wallet with too low a balance: how to top up. None if payments are not
/// accepted.
pub(crate) fn ask_to_top_up(
    app: &AppState,
    arrival: &RequestHead<'_>,
    holder: &CredentialHolder,
    message: String,
) -> Option<Refusal> {
    let accepts = app.wallets.accepts();
    let (Some(payments), Some(first)) = (&app.wallets.payments, accepts.first()) else {
        return None;
    };
    let balance = app.ledger.balances(holder.owner.id).total();
    let place = CalledResource::from_request(app, arrival);
    let challenge = build_challenge(app, arrival, &place);
    let body = TopUpNeeded {
        error: "Payment required",
        code: "PAYMENT_REQUIRED",
        reason: "insufficient_balance",
        message,
        current_balance_usd: balance.as_f64(),
        minimum_balance_usd: CONSUMABLE_MIN.as_f64(),
        suggested_top_up_usd: suggested_top_up(payments.terms()).as_f64(),
        minimum_top_up_usd: payments.terms().minimum.worth().as_f64(),
        supported_tokens: vec!["USDC"],
        supported_chains: accepts.iter().map(chain_name).collect(),
        top_up_instructions: build_instructions(app, payments.terms(), first),
        siwx_challenge: to_sign_in_challenge(&challenge),
    };
    let required = encode_requirements(body.error, &place, &accepts, Some(&challenge));
    Some(Refusal::top_up_needed(&body, &required))
}

/// The value of `PAYMENT-REQUIRED`, the only place where x402 clients read the requirements.
pub fn encode_requirements(
    error: &str,
    place: &CalledResource,
    accepts: &[PaymentOption],
    challenge: Option<&WalletChallenge>,
) -> String {
    encode_base64(&build_requirements(error, place, accepts, challenge))
}

/// The object that x402 calls `PaymentRequired`.
pub fn build_requirements(
    error: &str,
    place: &CalledResource,
    accepts: &[PaymentOption],
    challenge: Option<&WalletChallenge>,
) -> Value {
    let mut required = json!({
        "x402Version": X402_VERSION,
        "error": error,
        "resource": build_resource(place),
        "accepts": accepts,
    });
    if let Some(challenge) = challenge {
        required["extensions"] = json!({ "sign-in-with-x": challenge.to_extension() });
    }
    required
}

pub fn encode_base64(json: &Value) -> String {
    STANDARD.encode(json.to_string())
}

pub fn suggested_top_up(terms: &PaymentTerms) -> Nano {
    SUGGESTED_TOP_UP.min(terms.maximum.worth()).max(terms.minimum.worth())
}

fn ask_to_authenticate(
    app: &AppState,
    place: &CalledResource,
    accepts: Vec<PaymentOption>,
    challenge: Option<&WalletChallenge>,
) -> Refusal {
    let error = "Authentication required";
    let header = encode_requirements(error, place, &accepts, challenge);
    let body = PaymentDiscovery {
        x402_version: X402_VERSION,
        error: error.to_owned(),
        code: "AUTHENTICATION_REQUIRED",
        resource: build_resource(place),
        accepts,
        extensions: challenge
            .map(|it| DiscoveryExtensions { sign_in_with_x: to_sign_in_challenge(it) }),
        auth_options: auth_options(app),
    };
    Refusal::price_discovery(&body, &header)
}

fn build_resource(place: &CalledResource) -> PaidResource {
    PaidResource {
        url: place.uri.clone(),
        description: "service API",
        mime_type: "application/json",
    }
}

fn auth_options(app: &AppState) -> AuthOptions {
    let public_url = &app.settings.public_url;
    let docs = format!("{public_url}{BASE_PATH}/openapi.json");
    AuthOptions {
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
    }
}

fn build_instructions(
    app: &AppState,
    terms: &PaymentTerms,
    first: &PaymentOption,
) -> TopUpInstructions {
    let url = format!("{}{BASE_PATH}/x402/top-up", app.settings.public_url);
    TopUpInstructions {
        step1: format!("Get the payment terms: POST {url} without a payment."),
        step2: "Sign a USDC payment for one of the entries in `accepts`.".to_owned(),
        step3: "Send it in the PAYMENT-SIGNATURE header to the same URL, then send this request \
                again with a new sign-in."
            .to_owned(),
        receiver_wallet: first.pay_to.clone(),
        token_address: first.asset.clone(),
        token_decimals: TOKEN_DECIMALS,
        network: first.network.clone(),
        minimum_amount_usd: terms.minimum.worth().as_f64(),
    }
}

/// The short name of a chain, or its network id.
fn chain_name(option: &PaymentOption) -> String {
    match option.network.as_str() {
        "eip155:8453" => "base".to_owned(),
        network if network.starts_with("solana:") => "solana".to_owned(),
        network => network.to_owned(),
    }
}
