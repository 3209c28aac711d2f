//! Failed claims, which are credited if the money arrives after all.

use store::claim::{Claim, ClaimId, ClaimState, ClaimStep, ReceivedPayment};
use store::write::Write;
use wallet::PaymentRefusal;

use crate::claim_steps::{is_sent, pending, unavailable};
use crate::in_flight::Outcome;
use crate::outcome::TopUpRefused;
use crate::payments::Desk;
use crate::settler::{Moved, Sighting};

/// The reason stored with a claim that the operator gave up.
const WRITTEN_OFF: &str = "written_off";

impl Desk {
    /// The result of an expired payment, if it was claimed before; otherwise `refusal`.
    pub(crate) async fn recall(&self, claim: ClaimId, refusal: PaymentRefusal) -> Outcome {
        let found = self.store.claim(claim).await.map_err(unavailable)?;
        match found {
            Some(found) if found.state == ClaimState::Credited => self.settled(&found).await,
            Some(found) if is_sent(&found) => self.pick_up(found, self.deadline()).await,
            // A payer whose payment is refused as expired signs another one. So it must be certain
            // that this one has paid nothing, whichever account sent it to the chain.
            Some(found) if found.state == ClaimState::Failed => {
                match self.ask_about(&found).await? {
                    Sighting::Moved(moved) => self.credit_late(&found, moved).await,
                    Sighting::Waiting { transaction } => Err(pending(&found, transaction)),
                    Sighting::Never(_) | Sighting::Unsent(_) => Err(refusal.into()),
                }
            }
            _ => Err(refusal.into()),
        }
    }

    /// Looks up a claim on the chain again, in any state. A credited claim stays credited.
    pub(crate) async fn ask_again(&self, claim: ClaimId) -> Outcome {
        let found = self.store.claim(claim).await.map_err(unavailable)?;
        let found = found.ok_or(TopUpRefused::Failed)?;
        if found.state != ClaimState::Failed {
            return self.resume(claim).await;
        }
        match self.ask_about(&found).await? {
            Sighting::Moved(moved) => self.credit_late(&found, moved).await,
            Sighting::Waiting { transaction } => Err(pending(&found, transaction)),
            Sighting::Never(_) | Sighting::Unsent(_) => Err(TopUpRefused::Failed),
        }
    }

    /// Fails a claim on the operator's command, from the state that it was read in.
    pub(crate) async fn abandon(&self, claim: ClaimId, also: Vec<Write>) -> Outcome {
        let found = self.store.claim(claim).await.map_err(unavailable)?;
        let found = found.ok_or(TopUpRefused::Failed)?;
        let mut writes = also;
        writes.push(self.step(&found, ClaimStep::Fail { reason: WRITTEN_OFF.to_owned() }));
        self.commit(writes).await?;
        Err(TopUpRefused::Failed)
    }

    /// Credits the money of a failed claim. Its arrival is stored first: if it cannot be credited
    /// now, the books show it until it is.
    pub(crate) async fn credit_late(&self, claim: &Claim, moved: Moved) -> Outcome {
        let received = ReceivedPayment {
            transaction: moved.transaction.clone(),
            amount: moved.amount.worth(),
        };
        let note = Write::NoteReceivedClaim { claim: claim.id, received, at: self.clock.now() };
        self.commit(vec![note]).await?;
        tracing::warn!(
            tx.hash = %moved.transaction,
            payer = %claim.payer,
            "a payment that had failed is on its chain, and is credited"
        );
        self.credit(claim, moved).await
    }

    /// The state of a claim on the chain; Unavailable if the lookup fails.
    pub(crate) async fn ask_about(&self, claim: &Claim) -> Result<Sighting, TopUpRefused> {
        self.settler.look(claim).await.map_err(|setback| {
            tracing::warn!(cause = %setback, "a payment could not be looked up: {setback}");
            TopUpRefused::Unavailable
        })
    }
}
