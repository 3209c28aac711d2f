//! Questions about payments on their way to a chain.

use crate::Answer;
use crate::claim::{Claim, ClaimId, ClaimPlace, ClaimSpan, ClaimState, CreditedSum};

pub trait ClaimStore: Send + Sync {
    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>>;

    /// Claims that are neither credited nor failed, the oldest first.
    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>>;

    /// Claims of one state by the time of their last step, after a place: a page of them, which is
    /// the last one if it is empty.
    fn claims_changed(&self, span: ClaimSpan, beyond: Option<ClaimPlace>)
    -> Answer<'_, Vec<Claim>>;

    /// Claims in any state, or in one, the newest first.
    fn list_claims(&self, state: Option<ClaimState>, limit: usize) -> Answer<'_, Vec<Claim>>;

    /// Failed claims that money came for, the oldest first.
    fn received_claims(&self) -> Answer<'_, Vec<Claim>>;

    /// Credited claims that their chain does not show any more, the oldest first.
    fn missing_claims(&self) -> Answer<'_, Vec<Claim>>;

    /// What was credited for claims, by network.
    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>>;
}
