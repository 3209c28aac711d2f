//! The challenge that a wallet signs, with the host and the resource that it called.

use wallet::sign_in::WalletChallenge;
use wire::x402::{ChallengeInfo, SignInChallenge, SupportedChain};

use crate::app::AppState;
use crate::base_paths::BASE_PATH;
use crate::request_head::RequestHead;

/// Longer paths are left out, because they would fill the headers.
const PATH_BYTES_MAX: usize = 256;

/// The resource as the caller addressed it: clients sign only challenges with the host they called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledResource {
    /// Host and port.
    pub domain: String,
    /// URL of the resource.
    pub uri: String,
}

impl CalledResource {
    /// The called host if it is one of ours, else our public host.
    pub fn from_request(app: &AppState, arrival: &RequestHead<'_>) -> CalledResource {
        let path = arrival.uri.path();
        CalledResource::at_path(app, arrival.host(), path.strip_prefix(BASE_PATH).unwrap_or(path))
    }

    /// `path` follows the base path.
    pub fn at_path(app: &AppState, host: Option<&str>, path: &str) -> CalledResource {
        let public_url = app.settings.public_url.as_str();
        let (scheme, public_host) = public_url.split_once("://").unwrap_or(("http", public_url));
        let public_host = public_host.split('/').next().unwrap_or_default();
        let called = host.filter(|host| app.wallets.rules.is_our_host(host));
        let domain = called.unwrap_or(public_host).to_owned();
        let path = if path.len() <= PATH_BYTES_MAX { path } else { "" };
        let uri = format!("{scheme}://{domain}{BASE_PATH}{path}");
        CalledResource { domain, uri }
    }
}

/// A fresh challenge. It is not stored: a client may choose its own nonce, and many do.
pub(crate) fn build_challenge(
    app: &AppState,
    arrival: &RequestHead<'_>,
    place: &CalledResource,
) -> WalletChallenge {
    let mut nonce = [0; 16];
    app.entropy.fill_bytes(&mut nonce);
    WalletChallenge::new(&app.wallets.rules, &place.domain, &place.uri, nonce, arrival.now)
}

/// The challenge in the response's form.
pub(crate) fn to_sign_in_challenge(challenge: &WalletChallenge) -> SignInChallenge {
    let info = &challenge.info;
    let chains = challenge.supported_chains.iter();
    SignInChallenge {
        info: ChallengeInfo {
            domain: info.domain.clone(),
            uri: info.uri.clone(),
            version: info.version,
            nonce: info.nonce.clone(),
            issued_at: info.issued_at.clone(),
            expiration_time: info.expiration_time.clone(),
            statement: info.statement,
            resources: info.resources.clone(),
        },
        supported_chains: chains
            .map(|chain| SupportedChain { chain_id: chain.chain_id.clone(), kind: chain.kind })
            .collect(),
    }
}
