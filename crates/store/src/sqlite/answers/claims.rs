//! Answers to questions about payments on their way to a chain.

use crate::claim::{Claim, ClaimId, ClaimPlace, ClaimSpan, ClaimState, CreditedSum};
use crate::sqlite::{Sqlite, claims};
use crate::{Answer, ClaimStore};

impl ClaimStore for Sqlite {
    fn claim(&self, id: ClaimId) -> Answer<'_, Option<Claim>> {
        self.ask(move |connection| claims::claim(connection, id))
    }

    fn unfinished_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.ask(claims::unfinished)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimPlace>,
    ) -> Answer<'_, Vec<Claim>> {
        self.ask(move |connection| claims::changed_within(connection, span, beyond))
    }

    fn list_claims(&self, state: Option<ClaimState>, limit: usize) -> Answer<'_, Vec<Claim>> {
        self.ask(move |connection| claims::list(connection, state, limit))
    }

    fn received_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.ask(claims::received)
    }

    fn missing_claims(&self) -> Answer<'_, Vec<Claim>> {
        self.ask(claims::missing)
    }

    fn credited_claims(&self) -> Answer<'_, Vec<CreditedSum>> {
        self.ask(claims::credited)
    }
}
