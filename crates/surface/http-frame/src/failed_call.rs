//! Counts failed calls towards the block of a caller with too many of them.

use access::CredentialHolder;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use moment::Timestamp;

use crate::app::AppState;
use crate::principal::Principal;
use crate::refusal::render::PriceDiscovery;
use crate::request_id::RequestId;

/// A caller that may be blocked, with the endpoint that it called.
pub(crate) struct BlockableCaller<'a> {
    pub principal: Principal,
    pub holder: Option<&'a CredentialHolder>,
    /// The endpoint's path; empty if none matched.
    pub path: &'static str,
    /// True if refusals of this endpoint count.
    pub(crate) counts_failures: bool,
    /// The digest of the request's body; None without one.
    pub(crate) body_digest: Option<u64>,
}

impl<'a> BlockableCaller<'a> {
    /// A caller of no endpoint.
    pub(crate) fn outside_endpoints(
        principal: Principal,
        holder: Option<&'a CredentialHolder>,
    ) -> BlockableCaller<'a> {
        BlockableCaller { principal, holder, path: "", counts_failures: true, body_digest: None }
    }
}

/// Counts a failure caused by the caller, and records the refusal for the console.
pub(crate) fn note_failure(
    app: &AppState,
    caller: &BlockableCaller<'_>,
    parts: &Parts,
    response: &Response,
    now: Timestamp,
) {
    match weigh_failure(caller, response) {
        FailureWeight::None => {}
        FailureWeight::Full => app.note_failure(caller.principal, now),
        FailureWeight::PerBody(digest) => app.note_bad_request(caller.principal, digest, now),
    }
    if let Some(holder) = caller.holder {
        let id = RequestId::from_extensions(&parts.extensions);
        app.refused.record_response(holder, caller.path, id, response, now);
    }
}

/// The way in which a response counts towards the block after too many failures.
#[derive(Debug, PartialEq, Eq)]
enum FailureWeight {
    None,
    Full,
    /// Repetitions of the same body count less: agents repeat a refused request by themselves.
    PerBody(u64),
}

/// Callers with a valid key are blocked for malformed requests and missing rights only. An agent
/// keeps sending requests if it has no balance, is over a limit, or requests an unknown model.
/// Anyone can create a wallet, so all failures of wallets count.
fn weigh_failure(caller: &BlockableCaller<'_>, response: &Response) -> FailureWeight {
    if !counts_as_failure(response) {
        return FailureWeight::None;
    }
    if caller.holder.is_none() {
        return FailureWeight::Full;
    }
    if !caller.counts_failures {
        return FailureWeight::None;
    }
    if !matches!(caller.principal, Principal::Key(_)) {
        return FailureWeight::Full;
    }
    match (response.status(), caller.body_digest) {
        (StatusCode::PAYMENT_REQUIRED | StatusCode::NOT_FOUND, _) => FailureWeight::None,
        (StatusCode::BAD_REQUEST, Some(digest)) => FailureWeight::PerBody(digest),
        _ => FailureWeight::Full,
    }
}

/// True for client errors, except rate limits and requests for prices.
fn counts_as_failure(response: &Response) -> bool {
    let status = response.status();
    let is_discovery = response.extensions().get::<PriceDiscovery>().is_some();
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && !is_discovery
}

#[cfg(test)]
mod tests {
    use access::CallerCredential;
    use ledger_core::{KeyId, OwnerId};
    use store::owner::{Owner, OwnerKind};
    use uuid::Uuid;
    use wallet::WalletAddress;

    use super::*;

    fn wallet() -> WalletAddress {
        WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap()
    }

    fn holder() -> CredentialHolder {
        let wallet = wallet();
        let owner = Owner {
            id: OwnerId(Uuid::nil()),
            kind: OwnerKind::Evm,
            name: wallet.to_string(),
            tier: String::new(),
            created: Timestamp::from_ms(0),
            frozen: None,
        };
        CredentialHolder { proof: CallerCredential::Wallet(wallet), owner }
    }

    fn weigh(status: u16, holder: Option<&CredentialHolder>, counts: bool) -> FailureWeight {
        weigh_for(Principal::Key(KeyId(Uuid::nil())), status, holder, counts)
    }

    fn weigh_for(
        principal: Principal,
        status: u16,
        holder: Option<&CredentialHolder>,
        counts: bool,
    ) -> FailureWeight {
        let caller = BlockableCaller {
            counts_failures: counts,
            body_digest: Some(7),
            ..BlockableCaller::outside_endpoints(principal, holder)
        };
        let mut response = Response::default();
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        weigh_failure(&caller, &response)
    }

    #[test]
    fn known_callers_are_not_blocked_for_what_agents_repeat() {
        let holder = holder();
        for status in [200, 402, 404, 429, 500, 503] {
            assert_eq!(weigh(status, Some(&holder), true), FailureWeight::None, "{status}");
        }
        assert_eq!(weigh(400, Some(&holder), true), FailureWeight::PerBody(7));
        for status in [401, 403, 405, 413, 422] {
            assert_eq!(weigh(status, Some(&holder), true), FailureWeight::Full, "{status}");
        }
        for status in [400, 402, 404] {
            let weight = weigh_for(Principal::Wallet(wallet()), status, Some(&holder), true);
            assert_eq!(weight, FailureWeight::Full, "{status}");
        }
    }

    #[test]
    fn failures_of_an_uncounted_endpoint_count_for_unknown_callers_only() {
        let holder = holder();
        for status in [400, 401, 402, 404, 413, 422] {
            assert_eq!(weigh(status, Some(&holder), false), FailureWeight::None, "{status}");
            assert_eq!(weigh(status, None, false), FailureWeight::Full, "{status}");
        }
    }
}
