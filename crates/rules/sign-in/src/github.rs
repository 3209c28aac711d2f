//! Sign-in with GitHub: OAuth without an ID token, and two calls of its API.

use serde_json::Value;
use thiserror::Error;

use crate::authorization::AuthorizationRequest;
use crate::encoding::parse_object;
use crate::identity::{ClaimedAddress, IdentityClaims, PersonIdentity, read_name};
use crate::mail_address::MailAddress;
use crate::provider_url::ProviderUrl;

/// The largest answer that is parsed.
pub const GITHUB_ANSWER_BYTES_MAX: usize = 256 * 1024;

const ADDRESSES_MAX: usize = 1000;

/// The endpoints of github.com or of an installation of one's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubEndpoints {
    base: String,
    authorization: ProviderUrl,
    pub token: ProviderUrl,
    pub user: ProviderUrl,
    /// The addresses of the user.
    pub emails: ProviderUrl,
}

impl GithubEndpoints {
    /// `base_url` is `https://github.com`, `api_url` is `https://api.github.com`. None if one is no
    /// https address.
    pub fn new(base_url: &str, api_url: &str) -> Option<GithubEndpoints> {
        let base = base_url.trim_end_matches('/');
        let api = api_url.trim_end_matches('/');
        let parse = |text: String| ProviderUrl::parse(&text);
        let has_query = |text: &str| text.contains(['?', '#']);
        if has_query(base) || has_query(api) {
            return None;
        }
        Some(GithubEndpoints {
            base: base.to_owned(),
            authorization: parse(format!("{base}/login/oauth/authorize"))?,
            token: parse(format!("{base}/login/oauth/access_token"))?,
            user: parse(format!("{api}/user"))?,
            emails: parse(format!("{api}/user/emails?per_page=100"))?,
        })
    }

    /// The issuer of its identities.
    pub fn issuer(&self) -> &str {
        &self.base
    }

    pub fn authorization_request(&self) -> AuthorizationRequest<'_> {
        AuthorizationRequest {
            endpoint: &self.authorization,
            scope: "read:user user:email",
            has_nonce: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GithubFault {
    #[error("GitHub's answer about the user has no numeric id, or is too large")]
    User,
    #[error("GitHub's answer is not a list of addresses, or is too large")]
    Addresses,
}

/// Reads the answer of `/user`. The subject is the numeric id: a login can be given up and taken by
/// another person. The public `email` is not read, because nothing says that it is verified.
pub fn read_github_user(
    endpoints: &GithubEndpoints,
    answer: &[u8],
) -> Result<IdentityClaims, GithubFault> {
    let user = parse_object(answer, GITHUB_ANSWER_BYTES_MAX).ok_or(GithubFault::User)?;
    let id = user.get("id").and_then(Value::as_u64).filter(|id| *id != 0);
    let id = id.ok_or(GithubFault::User)?;
    let identity =
        PersonIdentity::new(endpoints.issuer(), &id.to_string()).ok_or(GithubFault::User)?;
    Ok(IdentityClaims { identity, address: None, name: read_name(&user, &["name", "login"]) })
}

/// Reads the answer of `/user/emails`: the address that is primary and verified, if there is one.
pub fn read_github_addresses(answer: &[u8]) -> Result<Option<ClaimedAddress>, GithubFault> {
    if GITHUB_ANSWER_BYTES_MAX < answer.len() {
        return Err(GithubFault::Addresses);
    }
    let list: Value = serde_json::from_slice(answer).map_err(|_| GithubFault::Addresses)?;
    let list = list.as_array().filter(|list| list.len() <= ADDRESSES_MAX);
    let list = list.ok_or(GithubFault::Addresses)?;
    let is_true = |entry: &Value, field: &str| entry.get(field) == Some(&Value::Bool(true));
    let mut chosen = list.iter().filter(|it| is_true(it, "primary") && is_true(it, "verified"));
    let address = chosen.find_map(|it| MailAddress::parse(it.get("email")?.as_str()?).ok());
    Ok(address.map(|address| ClaimedAddress { address, is_verified: true }))
}
