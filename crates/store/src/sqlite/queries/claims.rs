//! Queries about claims of wallet payments.

use crate::claim::{Claim, ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum};
use crate::sqlite::{Sqlite, claims};
use crate::{ClaimStore, StoreFuture};

impl ClaimStore for Sqlite {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<Claim>> {
        self.ask(move |connection| claims::claim(connection, id))
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(claims::unfinished)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(move |connection| claims::changed_within(connection, span, beyond))
    }

    fn list_claims(&self, state: Option<ClaimState>, limit: usize) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(move |connection| claims::list(connection, state, limit))
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(claims::received)
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(claims::missing)
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.ask(claims::credited)
    }
}
