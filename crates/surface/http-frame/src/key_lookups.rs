//! Opens API keys, and limits how many unknown ones an address may have looked up in the store.
//!
//! Every text may be a key, and whether it is one is known only after a read of the store. A key
//! that exists is read once and then cached; a text that is none would be read for each request,
//! also on routes that answer without a credential and for addresses that are blocked.

use std::sync::Arc;

use access::{CredentialHolder, KeyRefusal};
use domain::limits::tiers::MinuteLimits;
use domain::limits::window::LimitSubject;

use crate::app::AppState;
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;
use crate::request_head::RequestHead;

/// Unknown keys a minute that are looked up for one address, including those in progress. They are
/// counted as tokens, which can be given back: a key that is found counts nothing.
const UNKNOWN_KEYS_A_MINUTE: MinuteLimits = MinuteLimits { requests: u64::MAX, tokens: Some(100) };

/// Returns the holder of a key. A key that is not cached is refused with 429 and not looked up if
/// its address has sent too many unknown ones.
pub async fn open_key(
    app: &AppState,
    arrival: &RequestHead<'_>,
    secret: &str,
) -> Result<Arc<CredentialHolder>, Refusal> {
    let mut counted = None;
    let count_unknown_key = || {
        let subject = LimitSubject::new(arrival.address, "unknown keys");
        match app.limiter.admit(subject, UNKNOWN_KEYS_A_MINUTE, 1, arrival.now) {
            Ok(admitted) => {
                counted = Some(admitted);
                Ok(())
            }
            Err(exceeded) => Err(Refusal::rate_limited(
                "Too many unknown API keys came from this address. Please try again shortly.",
                exceeded.limit_status().until_reset(),
            )),
        }
    };
    let opened = app.keys.authenticate_admitted(secret, count_unknown_key).await?;
    if let Some(counted) = counted
        && !matches!(opened, Err(KeyRefusal::Unknown))
    {
        app.limiter.correct_tokens(counted, 0);
    }
    opened.map_err(refuse_key)
}
