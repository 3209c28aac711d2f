//! The steps of one claim, from a payment to a credit. Each is durable before the next begins.

use std::sync::Arc;
use std::time::Duration;

use access::wallets;
use ledger::{LedgerError, OwnerHome};
use ledger_core::{EntryId, OwnerId, PaymentNetwork};
use moment::Timestamp;
use store::claim::{ClaimCredit, ClaimId, ClaimState, ClaimStep, PaymentClaim, SentPayment};
use store::error::StoreError;
use store::write::{StoreWrite, WriteGroup};
use tokio::time::{sleep, timeout};
use uuid::Uuid;
use wallet::WalletAddress;

use crate::in_flight::SettlementOutcome;
use crate::outcome::{SettledPayment, TopUpRefusal};
use crate::payee::ensure_payee;
use crate::payments::{RemoteCreditor, SettlementContext};
use crate::settler::{
    ChainSighting, ConfirmedTransfer, PaymentDecline, PaymentPreparation, PreparedPayment,
    SettleFailure, SettlementOrder,
};

/// The reason stored with a claim that ended before anything was sent for it.
const INTERRUPTED: &str = "interrupted";

impl SettlementContext {
    /// Settles a payment, continuing from the state of its claim.
    pub(crate) async fn settle(&self, order: SettlementOrder) -> SettlementOutcome {
        let claim = self.claim_of(&order);
        let found = self.store.claim(claim.id).await.map_err(refuse_unavailable)?;
        let Some(found) = found else { return self.begin(claim, order).await };
        let was_public = found.was_sent();
        let settled = match found.state {
            ClaimState::Credited => self.read_settled(&found).await,
            ClaimState::Submitted | ClaimState::Unknown => {
                self.continue_sent(found, self.deadline()).await
            }
            // Nothing was sent for it: fail it, and begin anew with the current payment.
            ClaimState::Verified => {
                self.fail_claim(&found, INTERRUPTED).await?;
                self.begin(claim, order).await
            }
            // A transaction that was sent for it may have moved the money after all.
            ClaimState::Failed if found.was_sent() => match self.look_up_or_refuse(&found).await? {
                ChainSighting::Moved(moved) => self.credit_late(&found, moved).await,
                _ => self.begin(claim, order).await,
            },
            ClaimState::Failed => self.begin(claim, order).await,
        };
        settled.map(|settled| SettledPayment { is_new: settled.is_new && !was_public, ..settled })
    }

    /// Continues a claim that no request waits for: after a restart, or after a request timed out.
    /// Reads the claim here, where no other task can be processing it: a copy from an earlier
    /// listing may be from before it was sent.
    pub(crate) async fn resume(&self, claim: ClaimId) -> SettlementOutcome {
        let found = self.store.claim(claim).await.map_err(refuse_unavailable)?;
        let claim = found.ok_or(TopUpRefusal::Failed)?;
        match claim.state {
            ClaimState::Verified => {
                self.fail_claim(&claim, INTERRUPTED).await?;
                Err(TopUpRefusal::Failed)
            }
            ClaimState::Submitted | ClaimState::Unknown => {
                self.continue_sent(claim, self.clock.now()).await
            }
            ClaimState::Credited => self.read_settled(&claim).await,
            ClaimState::Failed => Err(TopUpRefusal::Failed),
        }
    }

    /// Continues a claim that was sent, or was about to be sent when its process died. Sends it
    /// again, which is harmless if it was sent before.
    pub(crate) async fn continue_sent(
        &self,
        mut claim: PaymentClaim,
        deadline: Timestamp,
    ) -> SettlementOutcome {
        match self.look_up_claim(&claim).await {
            ChainSighting::Waiting { .. } => {
                self.replace_if_stuck(&mut claim).await?;
                let sent = self.settler.send(&claim).await;
                // A rejection by the node now says nothing about the first attempt.
                if let Ok(ChainSighting::Moved(moved)) = sent {
                    return self.credit(&claim, moved).await;
                }
                self.poll_until_settled(claim, deadline).await
            }
            sighting => self.apply_sighting(claim, sighting).await,
        }
    }

    async fn begin(&self, claim: PaymentClaim, order: SettlementOrder) -> SettlementOutcome {
        self.commit(vec![StoreWrite::OpenClaim(claim.clone())]).await?;
        let deadline = self.deadline();
        let prepared = timeout(self.policy.wait, self.settler.prepare(&order)).await;
        let prepared =
            prepared.unwrap_or_else(|_| Err(SettleFailure::unable("the chain is too slow")));
        match prepared {
            Ok(PaymentPreparation::Ready(prepared)) => {
                let sent = self.send(claim, prepared, deadline).await;
                sent.map(|settled| SettledPayment { is_new: true, ..settled })
            }
            Ok(PaymentPreparation::Moved(moved)) => self.credit(&claim, moved).await,
            Err(SettleFailure::Declined(decline)) => self.decline(&claim, decline).await,
            Err(setback) => self.release(&claim, &setback.to_string()).await,
        }
    }

    async fn send(
        &self,
        mut claim: PaymentClaim,
        prepared: PreparedPayment,
        deadline: Timestamp,
    ) -> SettlementOutcome {
        let PreparedPayment { sent, turn } = prepared;
        self.advance(&claim, ClaimStep::Submit(sent.clone())).await?;
        claim.state = ClaimState::Submitted;
        (claim.sent, claim.sent_at) = (sent, Some(self.clock.now()));
        let sighting = self.settler.send(&claim).await;
        drop(turn);
        match sighting {
            Ok(ChainSighting::Waiting { transaction }) => {
                note_transaction(&mut claim.sent, transaction);
                self.poll_until_settled(claim, deadline).await
            }
            Ok(sighting) => self.apply_sighting(claim, sighting).await,
            Err(setback) => {
                tracing::warn!(
                    cause = %setback,
                    "a payment got an unclear answer: {setback}"
                );
                self.poll_until_settled(claim, deadline).await
            }
        }
    }

    /// Polls the chain until it has an answer or the deadline is reached.
    async fn poll_until_settled(
        &self,
        mut claim: PaymentClaim,
        deadline: Timestamp,
    ) -> SettlementOutcome {
        loop {
            match self.look_up_claim(&claim).await {
                ChainSighting::Waiting { transaction } => {
                    note_transaction(&mut claim.sent, transaction);
                }
                sighting => return self.apply_sighting(claim, sighting).await,
            }
            if deadline <= self.clock.now() {
                return self.mark_unknown(claim).await;
            }
            let is_replaced = self.replace_if_stuck(&mut claim).await?;
            if is_replaced && let Err(setback) = self.settler.send(&claim).await {
                tracing::warn!(cause = %setback, "a replacement got an unclear answer: {setback}");
            }
            sleep(self.policy.poll).await;
        }
    }

    /// Replaces the claim's transaction with one that pays a higher fee if it was not mined in
    /// time. The new one is on disk before it is sent, with the hash of the one it replaces: either
    /// may be mined.
    async fn replace_if_stuck(&self, claim: &mut PaymentClaim) -> Result<bool, TopUpRefusal> {
        let now = self.clock.now();
        let is_due = claim.sent_at.is_some_and(|at| self.policy.replace_after <= now.since(at));
        if !is_due {
            return Ok(false);
        }
        let replacement = self.settler.build_replacement(claim).await.unwrap_or_else(|setback| {
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

    async fn look_up_claim(&self, claim: &PaymentClaim) -> ChainSighting {
        self.settler.look_up(claim).await.unwrap_or_else(|setback| {
            tracing::warn!(cause = %setback, "a payment could not be looked up: {setback}");
            ChainSighting::Waiting { transaction: None }
        })
    }

    async fn apply_sighting(
        &self,
        claim: PaymentClaim,
        sighting: ChainSighting,
    ) -> SettlementOutcome {
        match sighting {
            ChainSighting::Moved(moved) => self.credit(&claim, moved).await,
            ChainSighting::Never(decline) => self.decline(&claim, decline).await,
            ChainSighting::Unsent(cause) => self.release(&claim, &cause).await,
            ChainSighting::Waiting { .. } => self.mark_unknown(claim).await,
        }
    }

    /// Credits the payment and ends the claim in one transaction; the entry id is derived from the
    /// claim.
    pub(crate) async fn credit(
        &self,
        claim: &PaymentClaim,
        moved: ConfirmedTransfer,
    ) -> SettlementOutcome {
        let pending = || refuse_pending(claim, Some(moved.transaction.clone()));
        let network = PaymentNetwork::parse(&claim.network).ok_or_else(pending)?;
        let payer = WalletAddress::parse(&claim.payer).ok_or_else(pending)?;
        let now = self.clock.now();
        let owner = ensure_payee(self.store.as_ref(), payer, now).await;
        let owner = owner.map_err(|error| {
            tracing::warn!(%error, "a payment that arrived is credited later: {error}");
            pending()
        })?;
        let entry = entry_of(claim.id);
        let credit = ClaimCredit { entry, amount: moved.amount.worth() };
        let step = ClaimStep::Credit { transaction: moved.transaction.clone(), credit };
        let also = vec![self.build_step(claim, step)];
        let credited = match self.node_of(owner).await {
            Ok(None) => {
                let paid = self.ledger.top_up(entry, owner, network, credit.amount, also).await;
                paid.map(drop).map_err(|error| error.to_string())
            }
            Ok(Some((elsewhere, node))) => elsewhere.credit_claim(node, claim.id).await,
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
        let claim = self.store.claim(claim.id).await.map_err(refuse_unavailable)?;
        self.read_settled(&claim.ok_or(TopUpRefusal::Unavailable)?).await
    }

    /// The client and address of the owner's home, if that is another node.
    async fn node_of(
        &self,
        owner: OwnerId,
    ) -> Result<Option<(Arc<dyn RemoteCreditor>, String)>, LedgerError> {
        let Some(elsewhere) = self.elsewhere.get() else { return Ok(None) };
        Ok(match self.ledger.home_of(owner).await? {
            OwnerHome::Here => None,
            OwnerHome::At { address } => Some((Arc::clone(elsewhere), address)),
        })
    }

    async fn decline(&self, claim: &PaymentClaim, decline: PaymentDecline) -> SettlementOutcome {
        self.fail_claim(claim, &decline.reason).await?;
        Err(decline.into())
    }

    async fn release(&self, claim: &PaymentClaim, cause: &str) -> SettlementOutcome {
        tracing::error!(
            cause,
            network = %claim.network,
            "a payment could not be settled and was released: {cause}"
        );
        self.fail_claim(claim, "unexpected_settle_error").await?;
        Err(TopUpRefusal::Failed)
    }

    async fn mark_unknown(&self, claim: PaymentClaim) -> SettlementOutcome {
        let transaction = claim.sent.transaction.clone();
        let is_news = claim.state != ClaimState::Unknown;
        if is_news {
            let step = ClaimStep::LoseSight { transaction: transaction.clone() };
            self.advance(&claim, step).await?;
        }
        Err(refuse_pending(&claim, transaction))
    }

    async fn fail_claim(&self, claim: &PaymentClaim, reason: &str) -> Result<(), TopUpRefusal> {
        self.advance(claim, ClaimStep::Fail { reason: reason.to_owned() }).await
    }

    async fn advance(&self, claim: &PaymentClaim, step: ClaimStep) -> Result<(), TopUpRefusal> {
        self.commit(vec![self.build_step(claim, step)]).await
    }

    /// A write that advances the claim from its known state.
    pub(crate) fn build_step(&self, claim: &PaymentClaim, step: ClaimStep) -> StoreWrite {
        let (from, at) = (claim.state, self.clock.now());
        StoreWrite::AdvanceClaim { claim: claim.id, from, step, at }
    }

    pub(crate) async fn commit(&self, writes: Vec<StoreWrite>) -> Result<(), TopUpRefusal> {
        self.store.commit(WriteGroup { writes }).await.map_err(refuse_unavailable)
    }

    pub(crate) async fn read_settled(&self, claim: &PaymentClaim) -> SettlementOutcome {
        let (Some(credit), Some(transaction)) = (claim.credit, &claim.sent.transaction) else {
            return Err(TopUpRefusal::Unavailable);
        };
        let payer = WalletAddress::parse(&claim.payer).ok_or(TopUpRefusal::Unavailable)?;
        let now = self.clock.now();
        let owner = wallets::resolve_owner(self.store.as_ref(), payer, now).await;
        let owner = owner.map_err(refuse_unavailable)?.id;
        let balances = self.ledger.balances_anywhere(owner).await.map_err(|error| {
            tracing::error!(%error, "the balance after a payment could not be read: {error}");
            TopUpRefusal::Unavailable
        })?;
        Ok(SettledPayment {
            payment_id: payment_id(claim.id),
            payer: claim.payer.clone(),
            owner,
            network: claim.network.clone(),
            transaction: transaction.clone(),
            amount: credit.amount,
            balance: balances.usd,
            is_new: false,
        })
    }

    fn claim_of(&self, order: &SettlementOrder) -> PaymentClaim {
        let (verified, now) = (&order.verified, self.clock.now());
        PaymentClaim {
            id: ClaimId(verified.id.bytes()),
            network: verified.network.to_string(),
            asset: order.requirement.asset.clone(),
            payer: verified.payer.to_string(),
            nonce: verified.nonce(),
            pay_to: order.requirement.pay_to.clone(),
            units: verified.amount.units(),
            payment: order.payment.to_payload(&order.requirement).to_string(),
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

pub(crate) fn is_sent(claim: &PaymentClaim) -> bool {
    matches!(claim.state, ClaimState::Submitted | ClaimState::Unknown)
}

fn note_transaction(sent: &mut SentPayment, transaction: Option<String>) {
    if transaction.is_some() {
        sent.transaction = transaction;
    }
}

pub(crate) fn refuse_pending(claim: &PaymentClaim, transaction: Option<String>) -> TopUpRefusal {
    TopUpRefusal::Pending {
        network: claim.network.clone(),
        payer: claim.payer.clone(),
        transaction,
    }
}

pub(crate) fn refuse_unavailable(error: StoreError) -> TopUpRefusal {
    tracing::error!(%error, "a payment's claim could not be written or read: {error}");
    TopUpRefusal::Unavailable
}
