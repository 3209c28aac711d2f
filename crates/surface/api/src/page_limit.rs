//! Limits requests for pages, which need no credential, per address.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::LimitSubject;
use http_frame::app::SharedApp;
use http_frame::caller_limits;
use http_frame::origin::CallerOrigin;

/// Requests for pages per minute and address. A first visit takes about twenty, and an office
/// shares one address.
const PAGES_A_MINUTE: u64 = 1_200;

/// Counts a request for a page; responds 429 beyond the limit.
pub(crate) async fn admit_page(
    State(app): State<SharedApp>,
    request: Request,
    next: Next,
) -> Response {
    let now = app.clock.now();
    let (parts, body) = request.into_parts();
    let address = CallerOrigin::from_parts(&app.settings, &parts).address;
    let request = Request::from_parts(parts, body);
    let allowed = MinuteLimits { requests: PAGES_A_MINUTE, tokens: None };
    match app.admit_anonymous(LimitSubject::new(address, "pages"), allowed, now).await {
        Ok(_) => next.run(request).await,
        Err(exceeded) => {
            let mut response = caller_limits::refuse_rate_limited(&exceeded).into_response();
            caller_limits::write_reset(&mut response, now);
            response
        }
    }
}
