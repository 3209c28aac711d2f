//! The steps of one claim, from a payment to a credit. Each is durable before the next begins.

use std::sync::Arc;
use std::time::Duration;

use access::wallets;
use credits::{EntryId, Network, OwnerId};
use ledger::{LedgerError, OwnerHome};
use moment::Timestamp;
use store::claim::{Claim, ClaimCredit, ClaimId, ClaimState, ClaimStep, SentPayment};
use store::error::StoreError;
use store::write::{Group, Write};
use tokio::time::{sleep, timeout};
use uuid::Uuid;
use wallet::WalletAddress;

use crate::in_flight::Outcome;
use crate::outcome::{Settled, TopUpRefused};
use crate::payee::payee_of;
use crate::payments::{Desk, Elsewhere};
use crate::settler::{Decline, Moved, Order, Preparation, Prepared, Setback, Sighting};

/// The reason stored with a claim that ended before anything was sent for it.
const INTERRUPTED: &str = "interrupted";

impl Desk {
    /// Settles a payment, continuing from the state of its claim.
    pub(crate) async fn settle(&self, order: Order) -> Outcome {
        let claim = self.claim_of(&order);
        let found = self.store.claim(claim.id).await.map_err(unavailable)?;
        let Some(found) = found else { return self.begin(claim, order).await };
        match found.state {
            ClaimState::Credited => self.settled(&found).await,
            ClaimState::Submitted | ClaimState::Unknown => {
                self.pick_up(found, self.deadline()).await
            }
            // Nothing was sent for it: fail it, and begin anew with the current payment.
            ClaimState::Verified => {
                self.give_up(&found, INTERRUPTED).await?;
                self.begin(claim, order).await
            }
            // A transaction that was sent for it may have moved the money after all.
            ClaimState::Failed if found.was_sent() => match self.ask_about(&found).await? {
                Sighting::Moved(moved) => self.credit_late(&found, moved).await,
                _ => self.begin(claim, order).await,
            },
            ClaimState::Failed => self.begin(claim, order).await,
        }
    }

    /// Continues a claim that no request waits for: after a restart, or after a request timed out.
    /// Reads the claim here, where no other task can be processing it: a copy from an earlier
    /// listing may be from before it was sent.
    pub(crate) async fn resume(&self, claim: ClaimId) -> Outcome {
        let found = self.store.claim(claim).await.map_err(unavailable)?;
        let claim = found.ok_or(TopUpRefused::Failed)?;
        match claim.state {
            ClaimState::Verified => {
                self.give_up(&claim, INTERRUPTED).await?;
                Err(TopUpRefused::Failed)
            }
            ClaimState::Submitted | ClaimState::Unknown => {
                self.pick_up(claim, self.clock.now()).await
            }
            ClaimState::Credited => self.settled(&claim).await,
            ClaimState::Failed => Err(TopUpRefused::Failed),
        }
    }

    /// Continues a claim that was sent, or was about to be sent when its process died. Sends it
    /// again, which is harmless if it was sent before.
    pub(crate) async fn pick_up(&self, mut claim: Claim, deadline: Timestamp) -> Outcome {
        match self.look(&claim).await {
            Sighting::Waiting { .. } => {
                self.replace_if_stuck(&mut claim).await?;
                let sent = self.settler.send(&claim).await;
                // A rejection by the node now says nothing about the first attempt.
                if let Ok(Sighting::Moved(moved)) = sent {
                    return self.credit(&claim, moved).await;
                }
                self.follow(claim, deadline).await
            }
            sighting => self.conclude(claim, sighting).await,
        }
    }

    async fn begin(&self, claim: Claim, order: Order) -> Outcome {
        self.commit(vec![Write::OpenClaim(claim.clone())]).await?;
        let deadline = self.deadline();
        let prepared = timeout(self.policy.wait, self.settler.prepare(&order)).await;
        let prepared = prepared.unwrap_or_else(|_| Err(Setback::unable("the chain is too slow")));
        match prepared {
            Ok(Preparation::Ready(prepared)) => self.send(claim, prepared, deadline).await,
            Ok(Preparation::Moved(moved)) => self.credit(&claim, moved).await,
            Err(Setback::Declined(decline)) => self.decline(&claim, decline).await,
            Err(setback) => self.release(&claim, &setback.to_string()).await,
        }
    }

    async fn send(&self, mut claim: Claim, prepared: Prepared, deadline: Timestamp) -> Outcome {
        let Prepared { sent, turn } = prepared;
        self.advance(&claim, ClaimStep::Submit(sent.clone())).await?;
        claim.state = ClaimState::Submitted;
        (claim.sent, claim.sent_at) = (sent, Some(self.clock.now()));
        let sighting = self.settler.send(&claim).await;
        drop(turn);
        match sighting {
            Ok(Sighting::Waiting { transaction }) => {
                note_transaction(&mut claim.sent, transaction);
                self.follow(claim, deadline).await
            }
            Ok(sighting) => self.conclude(claim, sighting).await,
            Err(setback) => {
                tracing::warn!(
                    cause = %setback,
                    "a payment was sent without a clear answer: {setback}"
                );
                self.follow(claim, deadline).await
            }
        }
    }

    /// Polls the chain until it has an answer or the deadline is reached.
    async fn follow(&self, mut claim: Claim, deadline: Timestamp) -> Outcome {
        loop {
            match self.look(&claim).await {
                Sighting::Waiting { transaction } => {
                    note_transaction(&mut claim.sent, transaction);
                }
                sighting => return self.conclude(claim, sighting).await,
            }
            if deadline <= self.clock.now() {
                return self.lose_sight(claim).await;
            }
            let is_replaced = self.replace_if_stuck(&mut claim).await?;
            if is_replaced && let Err(setback) = self.settler.send(&claim).await {
                tracing::warn!(cause = %setback, "a dearer payment was sent without a clear answer: {setback}");
            }
            sleep(self.policy.poll).await;
        }
    }

    /// Replaces the claim's transaction with one that pays a higher fee if it was not mined in
    /// time. The new one is on disk before it is sent, with the hash of the one it replaces: either
    /// may be mined.
    async fn replace_if_stuck(&self, claim: &mut Claim) -> Result<bool, TopUpRefused> {
        let now = self.clock.now();
        let is_due = claim.sent_at.is_some_and(|at| self.policy.replace_after <= now.since(at));
        if !is_due {
            return Ok(false);
        }
        let replacement = self.settler.replacement(claim).await.unwrap_or_else(|setback| {
            tracing::warn!(cause = %setback, "a payment is stuck: {setback}");
            None
        });
        let Some(sent) = replacement else { return Ok(false) };
        self.advance(claim, ClaimStep::Replace(sent.clone())).await?;
        metrics::counter!("settle_replacements_total").increment(1);
        tracing::info!(
            tx.hash = sent.transaction.as_deref().unwrap_or_default(),
            "a payment's transaction was not mined in time: one with a higher fee takes its place"
        );
        (claim.sent, claim.sent_at) = (sent, Some(now));
        Ok(true)
    }

    async fn look(&self, claim: &Claim) -> Sighting {
        self.settler.look(claim).await.unwrap_or_else(|setback| {
            tracing::warn!(cause = %setback, "a payment could not be looked up: {setback}");
            Sighting::Waiting { transaction: None }
        })
    }

    async fn conclude(&self, claim: Claim, sighting: Sighting) -> Outcome {
        match sighting {
            Sighting::Moved(moved) => self.credit(&claim, moved).await,
            Sighting::Never(decline) => self.decline(&claim, decline).await,
            Sighting::Unsent(cause) => self.release(&claim, &cause).await,
            Sighting::Waiting { .. } => self.lose_sight(claim).await,
        }
    }

    /// Credits the payment and ends the claim in one transaction; the entry id is derived from the
    /// claim.
    pub(crate) async fn credit(&self, claim: &Claim, moved: Moved) -> Outcome {
        let pending = || pending(claim, Some(moved.transaction.clone()));
        let network = Network::parse(&claim.network).ok_or_else(pending)?;
        let payer = WalletAddress::parse(&claim.payer).ok_or_else(pending)?;
        let now = self.clock.now();
        let owner = payee_of(self.store.as_ref(), payer, now).await;
        let owner = owner.map_err(|error| {
            tracing::warn!(%error, "a payment that arrived is credited later: {error}");
            pending()
        })?;
        let entry = entry_of(claim.id);
        let credit = ClaimCredit { entry, amount: moved.amount.worth() };
        let step = ClaimStep::Credit { transaction: moved.transaction.clone(), credit };
        let also = vec![self.step(claim, step)];
        let credited = match self.node_of(owner).await {
            Ok(None) => {
                let paid = self.ledger.top_up(entry, owner, network, credit.amount, also).await;
                paid.map(drop).map_err(|error| error.to_string())
            }
            Ok(Some((elsewhere, node))) => elsewhere.credit(node, claim.id).await,
            Err(error) => Err(error.to_string()),
        };
        credited.map_err(|error| {
            tracing::error!(
                error,
                tx.hash = %moved.transaction,
                "a payment that arrived is credited later: {error}"
            );
            pending()
        })?;
        let claim = self.store.claim(claim.id).await.map_err(unavailable)?;
        self.settled(&claim.ok_or(TopUpRefused::Unavailable)?).await
    }

    /// The client and address of the owner's home, if that is another node.
    async fn node_of(
        &self,
        owner: OwnerId,
    ) -> Result<Option<(Arc<dyn Elsewhere>, String)>, LedgerError> {
        let Some(elsewhere) = self.elsewhere.get() else { return Ok(None) };
        Ok(match self.ledger.home_of(owner).await? {
            OwnerHome::Here => None,
            OwnerHome::At { address } => Some((Arc::clone(elsewhere), address)),
        })
    }

    async fn decline(&self, claim: &Claim, decline: Decline) -> Outcome {
        self.give_up(claim, &decline.reason).await?;
        Err(decline.into())
    }

    async fn release(&self, claim: &Claim, cause: &str) -> Outcome {
        tracing::error!(
            cause,
            network = %claim.network,
            "a payment could not be settled and was released: {cause}"
        );
        self.give_up(claim, "unexpected_settle_error").await?;
        Err(TopUpRefused::Failed)
    }

    async fn lose_sight(&self, claim: Claim) -> Outcome {
        let transaction = claim.sent.transaction.clone();
        let is_news = claim.state != ClaimState::Unknown;
        if is_news {
            let step = ClaimStep::LoseSight { transaction: transaction.clone() };
            self.advance(&claim, step).await?;
        }
        Err(pending(&claim, transaction))
    }

    async fn give_up(&self, claim: &Claim, reason: &str) -> Result<(), TopUpRefused> {
        self.advance(claim, ClaimStep::Fail { reason: reason.to_owned() }).await
    }

    async fn advance(&self, claim: &Claim, step: ClaimStep) -> Result<(), TopUpRefused> {
        self.commit(vec![self.step(claim, step)]).await
    }

    /// A write that advances the claim from its known state.
    pub(crate) fn step(&self, claim: &Claim, step: ClaimStep) -> Write {
        let (from, at) = (claim.state, self.clock.now());
        Write::AdvanceClaim { claim: claim.id, from, step, at }
    }

    pub(crate) async fn commit(&self, writes: Vec<Write>) -> Result<(), TopUpRefused> {
        self.store.commit(Group { writes }).await.map_err(unavailable)
    }

    pub(crate) async fn settled(&self, claim: &Claim) -> Outcome {
        let (Some(credit), Some(transaction)) = (claim.credit, &claim.sent.transaction) else {
            return Err(TopUpRefused::Unavailable);
        };
        let payer = WalletAddress::parse(&claim.payer).ok_or(TopUpRefused::Unavailable)?;
        let now = self.clock.now();
        let owner = wallets::owner(self.store.as_ref(), payer, now).await;
        let owner = owner.map_err(unavailable)?.id;
        let balances = self.ledger.balances_anywhere(owner).await.map_err(|error| {
            tracing::error!(%error, "the balance after a payment could not be read: {error}");
            TopUpRefused::Unavailable
        })?;
        Ok(Settled {
            payment_id: payment_id(claim.id),
            payer: claim.payer.clone(),
            owner,
            network: claim.network.clone(),
            transaction: transaction.clone(),
            amount: credit.amount,
            balance: balances.usd,
        })
    }

    fn claim_of(&self, order: &Order) -> Claim {
        let (verified, now) = (&order.verified, self.clock.now());
        Claim {
            id: ClaimId(verified.id.bytes()),
            network: verified.network.to_string(),
            asset: order.requirement.asset.clone(),
            payer: verified.payer.to_string(),
            nonce: verified.nonce(),
            pay_to: order.requirement.pay_to.clone(),
            units: verified.amount.units(),
            payment: order.payment.payload(&order.requirement).to_string(),
            state: ClaimState::Verified,
            sent: SentPayment::default(),
            sent_at: None,
            credit: None,
            reason: None,
            created: now,
            changed: now,
        }
    }

    pub(crate) fn deadline(&self) -> Timestamp {
        self.clock.now().plus(self.policy.wait.max(Duration::from_millis(1)))
    }
}

/// The entry id of a payment's credit, derived from the claim, so that the journal refuses a second
/// credit even if the claim were lost.
fn entry_of(claim: ClaimId) -> EntryId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&claim.0[..16]);
    EntryId(Uuid::from_bytes(bytes))
}

fn payment_id(claim: ClaimId) -> String {
    format!("pay_{}", alloy_primitives::hex::encode(claim.0))
}

pub(crate) fn is_sent(claim: &Claim) -> bool {
    matches!(claim.state, ClaimState::Submitted | ClaimState::Unknown)
}

fn note_transaction(sent: &mut SentPayment, transaction: Option<String>) {
    if transaction.is_some() {
        sent.transaction = transaction;
    }
}

pub(crate) fn pending(claim: &Claim, transaction: Option<String>) -> TopUpRefused {
    TopUpRefused::Pending {
        network: claim.network.clone(),
        payer: claim.payer.clone(),
        transaction,
    }
}

pub(crate) fn unavailable(error: StoreError) -> TopUpRefused {
    tracing::error!(%error, "a payment's claim could not be written or read: {error}");
    TopUpRefused::Unavailable
}
