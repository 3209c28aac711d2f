//! `/api_keys/generate_web3_key`: creates an API key for a wallet.

use access::wallets::{self, NonceRefusal};
use domain::limits::tiers::LimitClass;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{JsonBody, QueryParameters};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use http_frame::wallet_sign_in::is_confirmed;
use store::owner::OwnerKind;
use wallet::{
    EvmAddress, WalletAddress, WalletVerdict, Web3Key, Web3KeyFault, mint_token, verify_web3_key,
};
use wire::api_keys::{ApiKeyType, NewApiKey, NewApiKeyReply};
use wire::wallets::{NewWeb3Key, Web3Token, Web3TokenQuery, Web3TokenReply};

use crate::endpoints::api_keys::create;

const PATH: &str = "/api_keys/generate_web3_key";
const DESCRIPTION_UNSAID: &str = "Web3 API Key";

pub(crate) fn token_endpoint() -> ApiEndpoint {
    EndpointBuilder::get(PATH, get_web3_token)
        .tag("API keys")
        .summary("Get a token for a wallet to sign")
        .build()
}

pub(crate) fn key_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, create_web3_key)
        .tag("API keys")
        .summary("Create an API key for a wallet, with its signature")
        .limit(LimitClass::KeyCreation)
        .refuses(401, "The account of this wallet is frozen")
        .build()
}

async fn get_web3_token(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<Web3TokenQuery>>,
) -> Result<WithHeaders<Web3TokenReply>, Refusal> {
    let QueryParameters(query) = call.input;
    let wallet = match query.address.as_deref().map(EvmAddress::parse) {
        Some(None) => return Err(refuse_web3_key(Web3KeyFault::InvalidWallet)),
        Some(wallet) => wallet,
        None => None,
    };
    let mut id = [0; 16];
    app.entropy.fill_bytes(&mut id);
    let public_url = app.settings.public_url.as_str();
    let domain = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    let token = mint_token(&app.wallets.token_secret, domain, wallet, id, call.now);
    Ok(WithHeaders::new(Web3TokenReply { success: true, data: Web3Token { token } }))
}

async fn create_web3_key(
    app: SharedApp,
    call: ApiCall<AnyCaller, JsonBody<NewWeb3Key>>,
) -> Result<WithHeaders<NewApiKeyReply>, Refusal> {
    let JsonBody(wanted) = call.input;
    let secret = &app.wallets.token_secret;
    let verdict =
        verify_web3_key(secret, &wanted.address, &wanted.token, &wanted.signature, call.now);
    let proved = confirm_signature(&app, verdict.map_err(refuse_web3_key)?).await?;
    let (store, wallet) = (app.store.as_ref(), WalletAddress::Evm(proved.wallet));
    let nonce = format!("web3{:032x}", u128::from_be_bytes(proved.token_id));
    let used = wallets::use_nonce(store, wallet, nonce, proved.expires_at).await;
    used.map_err(|refused| match refused {
        NonceRefusal::Reused => bad_request("JWT has already been used: get another one"),
        NonceRefusal::Unknowable(error) => Refusal::unavailable(error),
    })?;
    let owner = wallets::ensure_owner(store, wallet, call.now).await;
    let owner = owner.map_err(Refusal::unavailable)?;
    if owner.frozen.is_some() {
        return Err(Refusal::frozen());
    }
    // A linked wallet may spend, but not administer: an ADMIN key could revoke the operator's own.
    let is_linked = owner.kind == OwnerKind::Account;
    if is_linked && wanted.api_key_type == ApiKeyType::Admin {
        return Err(bad_request(
            "This wallet is linked to an account and can only create INFERENCE keys",
        ));
    }
    let wanted = NewApiKey {
        api_key_type: wanted.api_key_type,
        description: wanted.description.unwrap_or_else(|| DESCRIPTION_UNSAID.to_owned()),
        consumption_limit: wanted.consumption_limit,
        limit_period: wanted.limit_period,
        expires_at: wanted.expires_at,
        model_privacy: wanted.model_privacy,
    };
    create::create_owner_key(&app, owner.id, wanted, call.now).await
}

/// Asks the contract to verify the signature of a contract wallet.
async fn confirm_signature(
    app: &AppState,
    verdict: WalletVerdict<Web3Key>,
) -> Result<Web3Key, Refusal> {
    match verdict {
        WalletVerdict::Verified(proved) => Ok(proved),
        WalletVerdict::NeedsContractCheck(unconfirmed) => {
            match is_confirmed(app, &unconfirmed.check).await {
                Ok(true) => Ok(unconfirmed.confirmed_by_contract()),
                Ok(false) => Err(refuse_web3_key(Web3KeyFault::SignatureMismatch)),
                Err(cause) => Err(Refusal::unavailable(cause)),
            }
        }
    }
}

fn refuse_web3_key(fault: Web3KeyFault) -> Refusal {
    bad_request(&fault.to_string())
}

fn bad_request(message: &str) -> Refusal {
    Refusal::bad_request("Web3 key refused", message)
}
