//! A caller's rate limits and balance, and the headers that show them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use access::CredentialHolder;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use domain::limits::window::{ExceededLimit, LimitAdmission, RateLimitStatus, WindowLimiter};
use ledger::Ledger;
use ledger_core::LimitClass;
use moment::Timestamp;
use money::Nano;
use store::key::ApiKey;

use crate::refusal::Refusal;

// Header names, parsed once instead of for each response.
static BALANCE_USD: HeaderName = HeaderName::from_static("x-service-balance-usd");
static BALANCE_DIEM: HeaderName = HeaderName::from_static("x-service-balance-diem");
static LIMIT_REQUESTS: HeaderName = HeaderName::from_static("x-ratelimit-limit-requests");
static REMAINING_REQUESTS: HeaderName = HeaderName::from_static("x-ratelimit-remaining-requests");
static RESET_REQUESTS: HeaderName = HeaderName::from_static("x-ratelimit-reset-requests");
static LIMIT_TOKENS: HeaderName = HeaderName::from_static("x-ratelimit-limit-tokens");
static REMAINING_TOKENS: HeaderName = HeaderName::from_static("x-ratelimit-remaining-tokens");
static RESET_TOKENS: HeaderName = HeaderName::from_static("x-ratelimit-reset-tokens");
static LIMIT_TYPE: HeaderName = HeaderName::from_static("x-ratelimit-type");

/// The caller's rate-limit state, once known. The last value set counts.
#[derive(Debug, Clone, Default)]
pub struct RateLimitCell(Arc<Mutex<RequestStanding>>);

#[derive(Debug, Default)]
struct RequestStanding {
    known: Option<RateLimitStatus>,
    /// Set once the request is counted.
    admission: Option<LimitAdmission>,
}

impl RateLimitCell {
    pub fn set(&self, standing: RateLimitStatus) {
        self.lock().known = Some(standing);
    }

    /// Sets the outcome of counting the request.
    pub fn set_counted(&self, admitted: &Result<LimitAdmission, ExceededLimit>) {
        let mut standing = self.lock();
        standing.admission = admitted.as_ref().ok().copied();
        standing.known = Some(match admitted {
            Ok(admission) => admission.standing,
            Err(exceeded) => *exceeded.limit_status(),
        });
    }

    pub fn get(&self) -> Option<RateLimitStatus> {
        self.lock().known
    }

    /// Gives the request back if it was counted: the service was too busy for it.
    pub(crate) fn return_request(&self, limiter: &WindowLimiter) {
        let mut standing = self.lock();
        if let Some(admission) = standing.admission.take() {
            standing.known = Some(limiter.return_request(admission));
        }
    }

    fn lock(&self) -> MutexGuard<'_, RequestStanding> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The amounts that the key could spend before this request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BalanceBefore {
    pub(crate) usd: Nano,
    pub(crate) diem: Nano,
}

/// The account's balance, capped by what the key's own limit leaves.
pub(crate) fn read_balance(ledger: &Ledger, holder: &CredentialHolder) -> BalanceBefore {
    let balances = ledger.balances(holder.owner.id);
    let Some(terms) = holder.key().map(ApiKey::terms) else {
        return BalanceBefore { usd: balances.usd, diem: balances.diem };
    };
    let within = |class: LimitClass, available: Nano| match terms.limit(class) {
        None => available,
        Some(limit) => {
            let usage = ledger.key_usage(&terms, class);
            let left = limit.saturating_sub(usage.spent).saturating_sub(usage.reserved);
            available.min(left).max(Nano::ZERO)
        }
    };
    BalanceBefore {
        usd: within(LimitClass::Usd, balances.usd),
        diem: within(LimitClass::Diem, balances.diem),
    }
}

pub(crate) fn write_balance(headers: &mut HeaderMap, balance: BalanceBefore) {
    insert_amount(headers, &BALANCE_USD, balance.usd);
    insert_amount(headers, &BALANCE_DIEM, balance.diem);
}

/// Writes the rate-limit headers. The units are the specification's: requests reset at a Unix time,
/// tokens after a number of seconds.
pub(crate) fn write_limits(
    headers: &mut HeaderMap,
    standing: &RateLimitStatus,
    is_known_caller: bool,
) {
    let resets_at_s = standing.resets_at.ms().div_euclid(1000) + 1;
    headers.insert(&LIMIT_REQUESTS, standing.allowed.requests.into());
    headers.insert(&REMAINING_REQUESTS, standing.requests_left.into());
    headers.insert(&RESET_REQUESTS, resets_at_s.into());
    if let (Some(limit), Some(left)) = (standing.allowed.tokens, standing.tokens_left) {
        let wait_s = standing.until_reset().as_millis().div_ceil(1000);
        let wait_s = u64::try_from(wait_s).unwrap_or(u64::MAX);
        headers.insert(&LIMIT_TOKENS, limit.into());
        headers.insert(&REMAINING_TOKENS, left.into());
        headers.insert(&RESET_TOKENS, wait_s.into());
    }
    let kind = if is_known_caller { "user" } else { "global" };
    headers.insert(&LIMIT_TYPE, HeaderValue::from_static(kind));
}

/// On a 429, sets the reset of requests to `Retry-After`, whatever was counted: clients wait by
/// this header.
pub fn write_reset(response: &mut Response, now: Timestamp) {
    if response.status() != StatusCode::TOO_MANY_REQUESTS {
        return;
    }
    let wait = response.headers().get("retry-after-ms").and_then(|it| it.to_str().ok());
    let Some(wait_ms) = wait.and_then(|it| it.parse::<i64>().ok()) else { return };
    let resets_at_ms = now.ms().saturating_add(wait_ms);
    let resets_at_s = resets_at_ms.div_euclid(1000) + i64::from(resets_at_ms % 1000 != 0);
    response.headers_mut().insert(&RESET_REQUESTS, resets_at_s.into());
}

/// The 429 refusal of a request over a rate limit.
pub fn refuse_rate_limited(exceeded: &ExceededLimit) -> Refusal {
    let standing = exceeded.limit_status();
    let wait = standing.until_reset();
    let wait_s = wait.as_millis().div_ceil(1000);
    let message = match exceeded {
        ExceededLimit::Requests(RateLimitStatus { allowed, .. }) => format!(
            "Rate limit exceeded. {} requests a minute are allowed; try again in {wait_s}s.",
            allowed.requests,
        ),
        ExceededLimit::Tokens(RateLimitStatus { allowed, .. }) => format!(
            "Rate limit exceeded. {} tokens a minute are allowed; try again in {wait_s}s.",
            allowed.tokens.unwrap_or(0),
        ),
    };
    Refusal::rate_limited(message, wait)
}

fn insert_amount(headers: &mut HeaderMap, name: &HeaderName, amount: Nano) {
    if let Ok(value) = HeaderValue::try_from(amount.to_string()) {
        headers.insert(name, value);
    }
}
