//! Queries about claims of wallet payments.

use crate::claim::{ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum, PaymentClaim};
use crate::sqlite::{SqliteStore, claims};
use crate::{ClaimStore, StoreFuture};

impl ClaimStore for SqliteStore {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<PaymentClaim>> {
        self.query(move |connection| claims::read_claim(connection, id))
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(claims::read_unfinished)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(move |connection| claims::read_changed(connection, span, beyond))
    }

    fn list_claims(
        &self,
        state: Option<ClaimState>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(move |connection| claims::list_claims(connection, state, limit))
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(claims::read_received)
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(claims::read_missing)
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.query(claims::sum_credited)
    }
}
