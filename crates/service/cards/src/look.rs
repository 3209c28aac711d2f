//! Looks at a payment, and brings the books to what Stripe says.

use card_payments::{
    CheckoutSession, FreezeStep, PaymentFacts, PaymentIntent, PaymentStanding, SessionPayment,
    StripeCall, StripeCharge, StripeId, decide_freezes, decide_movement, find_session_mismatch,
    judge_payment,
};
use thiserror::Error;

use crate::facts::StripeSetback;
use crate::ports::{CardStoreFault, MoneyMove};
use crate::rows::{CardOrderRow, CardOrderState, CardWrite, LookTarget, PendingLook};
use crate::service::CardService;

/// The reason why a look changed nothing, or not everything: it is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LookFault {
    #[error(transparent)]
    Stripe(#[from] StripeSetback),
    #[error(transparent)]
    Store(#[from] CardStoreFault),
}

impl CardService {
    /// Looks at a target that a webhook has noted.
    pub async fn look_at_noted(&self, target: &LookTarget) -> Result<(), LookFault> {
        match self.parts.store.find_pending_look(target).await? {
            Some(pending) => self.look_at_pending(pending).await,
            None => Ok(()),
        }
    }

    /// Looks at a stored target and removes it, unless it was noted again in between.
    pub(crate) async fn look_at_pending(&self, pending: PendingLook) -> Result<(), LookFault> {
        match &pending.target {
            LookTarget::Session(session) => self.look_at_session(session).await?,
            LookTarget::Intent(intent) => self.look_at_intent(intent).await?,
            LookTarget::Charge(charge) => self.look_at_charge(charge).await?,
        }
        Ok(self.parts.store.commit(vec![CardWrite::DropLook(pending)]).await?)
    }

    /// Looks at the payment of a session, if the session is that of an order of ours.
    pub(crate) async fn look_at_session(&self, session: &StripeId) -> Result<(), LookFault> {
        let call = StripeCall::retrieve_session(session);
        let Some(session) = self.fetch(&call, CheckoutSession::parse).await? else { return Ok(()) };
        let Some(order) = session.order else { return Ok(()) };
        let Some(row) = self.parts.store.find_order(order).await? else { return Ok(()) };
        match (&session.intent, find_session_mismatch(&row.to_order(), &session)) {
            (Some(intent), None) => return self.look_at_intent(intent).await,
            (Some(intent), Some(mismatch)) => {
                tracing::error!(%order, %intent, "a payment is not credited: {mismatch}");
                let intent = intent.clone();
                let note = CardWrite::NoteMismatch { order, intent, mismatch };
                return Ok(self.parts.store.commit(vec![note]).await?);
            }
            (None, _) => {}
        }
        let is_over = session.payment == SessionPayment::Expired && row.intent.is_none();
        if is_over && row.state == CardOrderState::Awaiting {
            let state = CardOrderState::Canceled;
            self.parts.store.commit(vec![CardWrite::NoteState { order, state }]).await?;
        }
        Ok(())
    }

    async fn look_at_charge(&self, charge: &StripeId) -> Result<(), LookFault> {
        let call = StripeCall::retrieve_charge(charge);
        match self.fetch(&call, StripeCharge::parse).await?.and_then(|charge| charge.intent) {
            Some(intent) => self.look_at_intent(&intent).await,
            None => Ok(()),
        }
    }

    /// Looks at a payment. A payment that names no order of ours is left alone.
    pub(crate) async fn look_at_intent(&self, intent: &StripeId) -> Result<(), LookFault> {
        let _alone = self.locks.lock(intent).await;
        // The row is read before Stripe is asked: an answer that is older than a movement then
        // names its revision, and moves nothing.
        let known = self.parts.store.find_order_of_intent(intent).await?;
        let call = StripeCall::retrieve_intent(intent);
        let Some(found) = self.fetch(&call, PaymentIntent::parse).await? else { return Ok(()) };
        let row = match known {
            Some(row) => row,
            None => match self.adopt_intent(&found).await? {
                Some(row) => row,
                None => return Ok(()),
            },
        };
        let facts = self.fetch_facts(found).await?;
        self.apply_facts(&row, &facts).await
    }

    /// The order that a payment names, with the payment as its own if it has none yet.
    async fn adopt_intent(
        &self,
        intent: &PaymentIntent,
    ) -> Result<Option<CardOrderRow>, LookFault> {
        let Some(order) = intent.order else { return Ok(None) };
        let store = &self.parts.store;
        let Some(row) = store.find_order(order).await? else { return Ok(None) };
        if row.intent.is_none() {
            let bind = CardWrite::BindIntent { order, intent: intent.id.clone() };
            store.commit(vec![bind]).await?;
            return Ok(store.find_order(order).await?);
        }
        Ok(Some(row))
    }

    async fn apply_facts(&self, row: &CardOrderRow, facts: &PaymentFacts) -> Result<(), LookFault> {
        let intent = &facts.intent().id;
        let standing = judge_payment(&row.to_order(), facts, &[]);
        let is_own = row.intent.as_ref() == Some(intent);
        if is_own && let Some(movement) = decide_movement(intent, row.books, &standing) {
            let (order, owner) = (row.id, row.owner);
            self.parts.ledger.move_money(MoneyMove { order, owner, movement }).await?;
        }
        let mut writes = self.plan_notes(row, intent, &standing, is_own);
        // Disputes and warnings of a payment that is not credited freeze its owner as well.
        let freezes = self.parts.store.list_freezes(row.id).await?;
        for step in decide_freezes(&freezes, facts) {
            writes.push(match step {
                FreezeStep::Freeze(cause) => {
                    CardWrite::AddFreeze { order: row.id, owner: row.owner, cause }
                }
                FreezeStep::EndByWin(cause) => CardWrite::EndFreezeByWin { cause },
            });
        }
        if !writes.is_empty() {
            self.parts.store.commit(writes).await?;
        }
        Ok(())
    }

    fn plan_notes(
        &self,
        row: &CardOrderRow,
        intent: &StripeId,
        standing: &PaymentStanding,
        is_own: bool,
    ) -> Vec<CardWrite> {
        let order = row.id;
        let state = match standing {
            PaymentStanding::Awaiting => CardOrderState::Awaiting,
            PaymentStanding::Processing => CardOrderState::Processing,
            PaymentStanding::Canceled => CardOrderState::Canceled,
            PaymentStanding::Paid(_) => CardOrderState::Paid,
            PaymentStanding::Mismatched(_) => CardOrderState::Mismatched,
        };
        let mut writes = Vec::new();
        if is_own && state != row.state {
            writes.push(CardWrite::NoteState { order, state });
        }
        let intent = intent.clone();
        match standing {
            PaymentStanding::Mismatched(mismatch) => {
                let mismatch = *mismatch;
                tracing::error!(%order, %intent, "a payment is not credited: {mismatch}");
                writes.push(CardWrite::NoteMismatch { order, intent, mismatch });
            }
            _ if row.state == CardOrderState::Mismatched => {
                writes.push(CardWrite::DropMismatch { intent });
            }
            _ => {}
        }
        writes
    }
}
