//! Failed claims, which are credited if the money arrives after all.

use store::claim::{ClaimId, ClaimState, ClaimStep, PaymentClaim, ReceivedPayment};
use store::write::StoreWrite;
use wallet::PaymentRefusal;

use crate::claim_steps::{is_sent, refuse_pending, refuse_unavailable};
use crate::in_flight::SettlementOutcome;
use crate::outcome::TopUpRefusal;
use crate::payments::SettlementContext;
use crate::settler::{ChainSighting, ConfirmedTransfer};

/// The reason stored with a claim that the operator gave up.
const WRITTEN_OFF: &str = "written_off";

impl SettlementContext {
    /// The result of an expired payment, if it was claimed before; otherwise `refusal`.
    pub(crate) async fn result_of_expired(
        &self,
        claim: ClaimId,
        refusal: PaymentRefusal,
    ) -> SettlementOutcome {
        let found = self.store.claim(claim).await.map_err(refuse_unavailable)?;
        match found {
            Some(found) if found.state == ClaimState::Credited => self.read_settled(&found).await,
            Some(found) if is_sent(&found) => self.continue_sent(found, self.deadline()).await,
            // A payer whose payment is refused as expired signs another one. So it must be certain
            // that this one has paid nothing, whichever account sent it to the chain.
            Some(found) if found.state == ClaimState::Failed => {
                match self.look_up_or_refuse(&found).await? {
                    ChainSighting::Moved(moved) => self.credit_late(&found, moved).await,
                    ChainSighting::Waiting { transaction } => {
                        Err(refuse_pending(&found, transaction))
                    }
                    ChainSighting::Never(_) | ChainSighting::Unsent(_) => Err(refusal.into()),
                }
            }
            _ => Err(refusal.into()),
        }
    }

    /// Looks up a claim on the chain again, in any state. A credited claim stays credited.
    pub(crate) async fn look_up_again(&self, claim: ClaimId) -> SettlementOutcome {
        let found = self.store.claim(claim).await.map_err(refuse_unavailable)?;
        let found = found.ok_or(TopUpRefusal::Failed)?;
        if found.state != ClaimState::Failed {
            return self.resume(claim).await;
        }
        match self.look_up_or_refuse(&found).await? {
            ChainSighting::Moved(moved) => self.credit_late(&found, moved).await,
            ChainSighting::Waiting { transaction } => Err(refuse_pending(&found, transaction)),
            ChainSighting::Never(_) | ChainSighting::Unsent(_) => Err(TopUpRefusal::Failed),
        }
    }

    /// Fails a claim on the operator's command, from the state that it was read in.
    pub(crate) async fn fail_by_operator(
        &self,
        claim: ClaimId,
        also: Vec<StoreWrite>,
    ) -> SettlementOutcome {
        let found = self.store.claim(claim).await.map_err(refuse_unavailable)?;
        let found = found.ok_or(TopUpRefusal::Failed)?;
        let mut writes = also;
        writes.push(self.build_step(&found, ClaimStep::Fail { reason: WRITTEN_OFF.to_owned() }));
        self.commit(writes).await?;
        Err(TopUpRefusal::Failed)
    }

    /// Credits the money of a failed claim. Its arrival is stored first: if it cannot be credited
    /// now, the books show it until it is.
    pub(crate) async fn credit_late(
        &self,
        claim: &PaymentClaim,
        moved: ConfirmedTransfer,
    ) -> SettlementOutcome {
        let received = ReceivedPayment {
            transaction: moved.transaction.clone(),
            amount: moved.amount.worth(),
        };
        let note =
            StoreWrite::NoteReceivedClaim { claim: claim.id, received, at: self.clock.now() };
        self.commit(vec![note]).await?;
        tracing::warn!(
            tx.hash = %moved.transaction,
            payer = %claim.payer,
            "a payment that had failed is on its chain, and is credited"
        );
        self.credit(claim, moved).await
    }

    /// The state of a claim on the chain; Unavailable if the lookup fails.
    pub(crate) async fn look_up_or_refuse(
        &self,
        claim: &PaymentClaim,
    ) -> Result<ChainSighting, TopUpRefusal> {
        self.settler.look_up(claim).await.map_err(|setback| {
            tracing::warn!(cause = %setback, "a payment could not be looked up: {setback}");
            TopUpRefusal::Unavailable
        })
    }
}
