//! Stored events: consecutive ones are sealed together.

use domain::entropy::EntropySource;
use http_frame::refusal::Refusal;
use serde_json::Value;
use store::model_response::{ResponseId, SealedEvents};

use crate::endpoints::responses::stored::seal::ContentKey;

/// Seals events, the first of which has the number `first`.
pub(super) fn seal_events(
    key: ContentKey,
    id: ResponseId,
    first: u64,
    events: &[Value],
    entropy: &dyn EntropySource,
) -> Result<SealedEvents, Refusal> {
    let sealed = key.seal(id.0, &events, entropy)?.sealed;
    let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
    let last = first.saturating_add(count.saturating_sub(1));
    Ok(SealedEvents { first, last, sealed })
}

pub(super) fn open_events(
    key: ContentKey,
    id: ResponseId,
    sealed: &SealedEvents,
) -> Result<Vec<Value>, Refusal> {
    key.open(id.0, &sealed.sealed)
}
