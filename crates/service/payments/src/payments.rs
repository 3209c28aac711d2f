//! The interface for the rest of the service: payment terms, settlement and contract signatures.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ledger::Ledger;
use moment::{Clock, Timestamp};
use store::Store;
use store::claim::ClaimId;
use store::write::StoreWrite;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;
use wallet::evm::EvmFault;
use wallet::{
    ContractCheck, PaymentRefusal, PaymentRequirement, PaymentTerms, UnverifiedPayment,
    VerifiedPayment, WalletVerdict, verify_payment,
};

use crate::in_flight::InFlightPayments;
use crate::outcome::{SettledPayment, TopUpRefusal};
use crate::settler::{PaymentSettler, SettleFailure, SettlementOrder};

/// Accepts payments and settles them.
#[derive(Clone)]
pub struct PaymentService {
    pub(crate) desk: Arc<SettlementContext>,
    pub(crate) in_flight: InFlightPayments,
    pub(crate) blockhash: Arc<Mutex<Option<RecentBlockhash>>>,
}

/// A recent Solana blockhash, and when it was fetched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecentBlockhash {
    pub(crate) asked: Timestamp,
    pub(crate) hash: [u8; 32],
}

/// The dependencies of settling, shared by all claims.
pub(crate) struct SettlementContext {
    pub(crate) terms: PaymentTerms,
    pub(crate) policy: PaymentPolicy,
    pub(crate) settler: Arc<dyn PaymentSettler>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Unset on a single node.
    pub(crate) elsewhere: OnceLock<Arc<dyn RemoteCreditor>>,
}

/// Forwards credits to the owner's home node.
pub trait RemoteCreditor: Send + Sync {
    /// Asks a node to look up a claim on the chain and credit the amount that arrived.
    fn credit_claim(&self, node: String, claim: ClaimId) -> CreditFuture<'_>;
}

pub type CreditFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// The dependencies that the service passes in.
pub struct PaymentParts {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub settler: Arc<dyn PaymentSettler>,
    pub clock: Arc<dyn Clock>,
    pub tasks: TaskTracker,
}

#[derive(Debug, Clone, Copy)]
pub struct PaymentPolicy {
    /// Time that a request waits for the chain before it is answered that its payment is pending.
    pub wait: Duration,
    /// Interval between two lookups of the chain.
    pub poll: Duration,
    /// Time that a transaction may wait to be mined before one with a higher fee replaces it.
    pub replace_after: Duration,
    /// Time after its credit at which a payment is first looked up again.
    pub recheck_after: Duration,
}

impl Default for PaymentPolicy {
    /// A minute is more than a settlement takes on either chain, and less than clients wait.
    fn default() -> PaymentPolicy {
        PaymentPolicy {
            wait: Duration::from_secs(60),
            poll: Duration::from_secs(1),
            replace_after: Duration::from_secs(30),
            recheck_after: Duration::from_secs(60),
        }
    }
}

impl PaymentService {
    pub fn new(parts: PaymentParts, terms: PaymentTerms, policy: PaymentPolicy) -> PaymentService {
        let PaymentParts { store, ledger, settler, clock, tasks } = parts;
        let elsewhere = OnceLock::new();
        let desk =
            Arc::new(SettlementContext { terms, policy, settler, store, ledger, clock, elsewhere });
        let blockhash = Arc::default();
        PaymentService { desk, in_flight: InFlightPayments::new(tasks), blockhash }
    }

    /// Sets the client for the other nodes. Call it once, if there are any.
    pub fn set_remote_creditor(&self, elsewhere: Arc<dyn RemoteCreditor>) {
        let _ = self.desk.elsewhere.set(elsewhere);
    }

    /// Checks which chain each node serves.
    pub async fn check_nodes(&self) -> Result<(), SettleFailure> {
        self.desk.settler.check_nodes().await
    }

    pub fn terms(&self) -> &PaymentTerms {
        &self.desk.terms
    }

    /// Every way to pay, as listed in `accepts`.
    pub fn accepts(&self) -> Vec<PaymentRequirement> {
        self.desk.terms.list_requirements()
    }

    /// Settles the payment in a header and credits the amount that moved to its payer.
    ///
    /// The same payment again, at the same time or years later, gives the same result. If the
    /// caller disconnects, the settlement continues.
    pub async fn top_up(&self, header: &[u8]) -> Result<SettledPayment, TopUpRefusal> {
        let payment = UnverifiedPayment::decode(header)?;
        let (order, timing) = self.verify(payment).await?;
        let claim = ClaimId(order.verified.id.bytes());
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move {
            match timing {
                PaymentTiming::InTime => desk.settle(order).await,
                PaymentTiming::Late(refusal) => desk.result_of_expired(claim, refusal).await,
            }
        });
        let pending = pending.ok_or(TopUpRefusal::Busy)?;
        pending.wait_for_outcome().await.unwrap_or(Err(TopUpRefusal::Unavailable))
    }

    /// Looks up one claim on the chain now, whatever its state, and credits or fails it
    /// accordingly.
    pub async fn look_up_again(&self, claim: ClaimId) -> Result<SettledPayment, TopUpRefusal> {
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move { desk.look_up_again(claim).await });
        let pending = pending.ok_or(TopUpRefusal::Busy)?;
        pending.wait_for_outcome().await.unwrap_or(Err(TopUpRefusal::Unavailable))
    }

    /// Fails an unfinished claim, with `also` in the same group. A claim that is being processed is
    /// [`TopUpRefusal::Busy`].
    pub async fn fail_claim(
        &self,
        claim: ClaimId,
        also: Vec<StoreWrite>,
    ) -> Result<(), TopUpRefusal> {
        if self.in_flight.is_under_way(claim) {
            return Err(TopUpRefusal::Busy);
        }
        let desk = Arc::clone(&self.desk);
        let pending =
            self.in_flight.join(claim, || async move { desk.fail_by_operator(claim, also).await });
        let pending = pending.ok_or(TopUpRefusal::Busy)?;
        match pending.wait_for_outcome().await {
            Some(Err(TopUpRefusal::Failed)) => Ok(()),
            Some(Err(refused)) => Err(refused),
            _ => Err(TopUpRefusal::Busy),
        }
    }

    /// True if the contract at an address confirms a signature as its own (ERC-1271).
    pub async fn contract_confirms(&self, check: &ContractCheck) -> Result<bool, TopUpRefusal> {
        self.desk.settler.confirms_signature(check).await.map_err(|setback| {
            tracing::warn!(cause = %setback, "a contract wallet could not be asked: {setback}");
            TopUpRefusal::Unavailable
        })
    }

    /// Verifies a payment, with a call to the payer's contract if it has one. The signature of an
    /// expired payment is verified too: its result is for its payer only.
    async fn verify(
        &self,
        payment: UnverifiedPayment,
    ) -> Result<(SettlementOrder, PaymentTiming), TopUpRefusal> {
        let terms = &self.desk.terms;
        let judged = verify_payment(terms, &payment, self.desk.clock.now());
        let (verdict, timing) = match (judged, payment.settle_deadline()) {
            (Ok(verdict), _) => (verdict, PaymentTiming::InTime),
            (Err(refusal @ PaymentRefusal::Evm(EvmFault::Expired)), Some(last)) => {
                let verdict = verify_payment(terms, &payment, last).map_err(|_| refusal.clone())?;
                (verdict, PaymentTiming::Late(refusal))
            }
            (Err(refusal), _) => return Err(refusal.into()),
        };
        let verified = self.confirm_verdict(verdict).await?;
        let requirement = terms.build_requirement(verified.network, verified.amount);
        let requirement = requirement.ok_or(PaymentRefusal::Network)?;
        Ok((SettlementOrder { verified, payment, requirement }, timing))
    }

    async fn confirm_verdict(
        &self,
        verdict: WalletVerdict<VerifiedPayment>,
    ) -> Result<VerifiedPayment, TopUpRefusal> {
        match verdict {
            WalletVerdict::Verified(verified) => Ok(verified),
            WalletVerdict::NeedsContractCheck(unconfirmed) => {
                if self.contract_confirms(&unconfirmed.check).await? {
                    Ok(unconfirmed.confirmed_by_contract())
                } else {
                    Err(unconfirmed.to_refusal().into())
                }
            }
        }
    }
}

/// The timeliness of a payment: it can still be settled, or has expired and can only be looked up.
enum PaymentTiming {
    InTime,
    Late(PaymentRefusal),
}
