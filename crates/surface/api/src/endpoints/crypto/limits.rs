//! Limits of requests per minute. Only refusals have the proxy's own rate-limit headers.

use std::time::Duration;

use domain::limits::tiers::LimitClass;
use domain::limits::window::LimitSubject;
use http_frame::call::limit_log_name;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::refusal::proxy::LimitHeaders;
use moment::Timestamp;
use rpc::in_flight::IN_FLIGHT_PER_OWNER_MAX;
use rpc::window::CapReached;

/// Counts one request, whatever the number of calls in it.
pub(super) fn admit_request(call: &PaidCall) -> Result<(), Refusal> {
    let PaidCall { app, holder, standing, now, .. } = call;
    let (tier, class) = (app.tier(Some(holder)), LimitClass::CryptoRpc);
    let subject = LimitSubject::new(holder.owner.id, class);
    let admitted = app.limiter.admit(subject, tier.limits_for(class), 0, *now);
    standing.set_counted(&admitted);
    admitted.map(|_| ()).map_err(|exceeded| {
        app.log_limit_hit(holder, tier, limit_log_name(super::PATH), exceeded.kind(), *now);
        let standing = exceeded.limit_status();
        let (limit, resets_in) = (standing.allowed.requests, standing.until_reset());
        let wait_s = resets_in.as_millis().div_ceil(1000);
        let message = format!(
            "Rate limit exceeded: {limit} RPC requests per minute are allowed. Try again in \
             {wait_s}s."
        );
        Refusal::cap_reached(&message, LimitHeaders { limit, remaining: 0, resets_in })
    })
}

/// 429 for too many concurrent requests. The next is accepted as soon as one ends.
pub(super) fn refuse_too_many_in_flight() -> Refusal {
    let message = format!(
        "Rate limit exceeded: {IN_FLIGHT_PER_OWNER_MAX} RPC requests at a time are allowed. Wait \
         for one of them to end."
    );
    let (limit, resets_in) = (IN_FLIGHT_PER_OWNER_MAX as u64, Duration::from_secs(1));
    Refusal::cap_reached(&message, LimitHeaders { limit, remaining: 0, resets_in })
}

pub(super) fn refuse_credits(reached: CapReached, now: Timestamp) -> Refusal {
    let CapReached { credits_max, remaining, resets_at } = reached;
    let message = format!(
        "Credit limit exceeded: {credits_max} RPC credits per 24 hours are allowed, and \
         {remaining} are left. There will be room at {resets_at}."
    );
    let resets_in = resets_at.since(now);
    Refusal::cap_reached(&message, LimitHeaders { limit: credits_max, remaining, resets_in })
}
