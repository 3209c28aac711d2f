//! Queries about claims of wallet payments.

use crate::StoreFuture;
use crate::claim::{ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum, PaymentClaim};

pub trait ClaimStore: Send + Sync {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<PaymentClaim>>;

    /// Claims that are neither credited nor failed, oldest first.
    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>>;

    /// Claims of one state by the time of their last step, after a cursor: one page. An empty page
    /// is the last.
    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<PaymentClaim>>;

    /// Claims in any state, or in one, newest first.
    fn list_claims(
        &self,
        state: Option<ClaimState>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<PaymentClaim>>;

    /// Failed claims whose money arrived, oldest first.
    fn received_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>>;

    /// Credited claims that their chain no longer shows, oldest first.
    fn missing_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>>;

    /// The sums credited for claims, by network.
    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>>;
}
