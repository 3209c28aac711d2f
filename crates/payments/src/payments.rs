//! The interface for the rest of the service: payment terms, settlement and contract signatures.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ledger::Ledger;
use moment::{Clock, Timestamp};
use store::Store;
use store::claim::ClaimId;
use store::write::Write;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;
use wallet::evm::EvmFault;
use wallet::{
    ContractCheck, Payment, PaymentRefusal, PaymentTerms, Requirement, Verdict, VerifiedPayment,
    verify_payment,
};

use crate::in_flight::InFlightPayments;
use crate::outcome::{Settled, TopUpRefused};
use crate::settler::{Order, Setback, Settler};

/// Accepts payments and settles them.
#[derive(Clone)]
pub struct Payments {
    pub(crate) desk: Arc<Desk>,
    pub(crate) in_flight: InFlightPayments,
    pub(crate) blockhash: Arc<Mutex<Option<Blockhash>>>,
}

/// A recent Solana blockhash, and when it was fetched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blockhash {
    pub(crate) asked: Timestamp,
    pub(crate) hash: [u8; 32],
}

/// The dependencies of settling, shared by all claims.
pub(crate) struct Desk {
    pub(crate) terms: PaymentTerms,
    pub(crate) policy: Policy,
    pub(crate) settler: Arc<dyn Settler>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Unset on a single node.
    pub(crate) elsewhere: OnceLock<Arc<dyn Elsewhere>>,
}

/// Forwards credits to the owner's home node.
pub trait Elsewhere: Send + Sync {
    /// Asks a node to look up a claim on the chain and credit the amount that arrived.
    fn credit(&self, node: String, claim: ClaimId) -> Credited<'_>;
}

pub type Credited<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// The dependencies that the service passes in.
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub settler: Arc<dyn Settler>,
    pub clock: Arc<dyn Clock>,
    pub tasks: TaskTracker,
}

#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Time that a request waits for the chain before it is answered that its payment is pending.
    pub wait: Duration,
    /// Interval between two lookups of the chain.
    pub poll: Duration,
    /// Time that a transaction may wait to be mined before one with a higher fee replaces it.
    pub replace_after: Duration,
    /// Time after its credit at which a payment is first looked up again.
    pub recheck_after: Duration,
}

impl Default for Policy {
    /// A minute is more than a settlement takes on either chain, and less than clients wait.
    fn default() -> Policy {
        Policy {
            wait: Duration::from_secs(60),
            poll: Duration::from_secs(1),
            replace_after: Duration::from_secs(30),
            recheck_after: Duration::from_secs(60),
        }
    }
}

impl Payments {
    pub fn new(parts: Parts, terms: PaymentTerms, policy: Policy) -> Payments {
        let Parts { store, ledger, settler, clock, tasks } = parts;
        let elsewhere = OnceLock::new();
        let desk = Arc::new(Desk { terms, policy, settler, store, ledger, clock, elsewhere });
        let blockhash = Arc::default();
        Payments { desk, in_flight: InFlightPayments::new(tasks), blockhash }
    }

    /// Sets the client for the other nodes. Call it once, if there are any.
    pub fn share(&self, elsewhere: Arc<dyn Elsewhere>) {
        let _ = self.desk.elsewhere.set(elsewhere);
    }

    /// Checks which chain each node serves.
    pub async fn identify(&self) -> Result<(), Setback> {
        self.desk.settler.identify().await
    }

    pub fn terms(&self) -> &PaymentTerms {
        &self.desk.terms
    }

    /// Every way to pay, as listed in `accepts`.
    pub fn accepts(&self) -> Vec<Requirement> {
        self.desk.terms.accepts()
    }

    /// Settles the payment in a header and credits the amount that moved to its payer.
    ///
    /// The same payment again, at the same time or years later, gives the same result. If the
    /// caller disconnects, the settlement continues.
    pub async fn top_up(&self, header: &[u8]) -> Result<Settled, TopUpRefused> {
        let payment = Payment::decode(header)?;
        let (order, timing) = self.verify(payment).await?;
        let claim = ClaimId(order.verified.id.bytes());
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move {
            match timing {
                Timing::InTime => desk.settle(order).await,
                Timing::Late(refusal) => desk.recall(claim, refusal).await,
            }
        });
        let pending = pending.ok_or(TopUpRefused::Busy)?;
        pending.outcome().await.unwrap_or(Err(TopUpRefused::Unavailable))
    }

    /// Looks up one claim on the chain now, whatever its state, and credits or fails it
    /// accordingly.
    pub async fn ask_again(&self, claim: ClaimId) -> Result<Settled, TopUpRefused> {
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move { desk.ask_again(claim).await });
        let pending = pending.ok_or(TopUpRefused::Busy)?;
        pending.outcome().await.unwrap_or(Err(TopUpRefused::Unavailable))
    }

    /// Fails an unfinished claim, with `also` in the same group. A claim that is being processed is
    /// [`TopUpRefused::Busy`].
    pub async fn abandon(&self, claim: ClaimId, also: Vec<Write>) -> Result<(), TopUpRefused> {
        if self.in_flight.is_under_way(claim) {
            return Err(TopUpRefused::Busy);
        }
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move { desk.abandon(claim, also).await });
        let pending = pending.ok_or(TopUpRefused::Busy)?;
        match pending.outcome().await {
            Some(Err(TopUpRefused::Failed)) => Ok(()),
            Some(Err(refused)) => Err(refused),
            _ => Err(TopUpRefused::Busy),
        }
    }

    /// True if the contract at an address confirms a signature as its own (ERC-1271).
    pub async fn contract_confirms(&self, check: &ContractCheck) -> Result<bool, TopUpRefused> {
        self.desk.settler.confirms(check).await.map_err(|setback| {
            tracing::warn!(cause = %setback, "a contract wallet could not be asked: {setback}");
            TopUpRefused::Unavailable
        })
    }

    /// Verifies a payment, with a call to the payer's contract if it has one. The signature of an
    /// expired payment is verified too: its result is for its payer only.
    async fn verify(&self, payment: Payment) -> Result<(Order, Timing), TopUpRefused> {
        let terms = &self.desk.terms;
        let judged = verify_payment(terms, &payment, self.desk.clock.now());
        let (verdict, timing) = match (judged, payment.last_moment()) {
            (Ok(verdict), _) => (verdict, Timing::InTime),
            (Err(refusal @ PaymentRefusal::Evm(EvmFault::Expired)), Some(last)) => {
                let verdict = verify_payment(terms, &payment, last).map_err(|_| refusal.clone())?;
                (verdict, Timing::Late(refusal))
            }
            (Err(refusal), _) => return Err(refusal.into()),
        };
        let verified = self.confirmed(verdict).await?;
        let requirement = terms.requirement(verified.network, verified.amount);
        let requirement = requirement.ok_or(PaymentRefusal::Network)?;
        Ok((Order { verified, payment, requirement }, timing))
    }

    async fn confirmed(
        &self,
        verdict: Verdict<VerifiedPayment>,
    ) -> Result<VerifiedPayment, TopUpRefused> {
        match verdict {
            Verdict::Verified(verified) => Ok(verified),
            Verdict::NeedsContractCheck(unconfirmed) => {
                if self.contract_confirms(&unconfirmed.check).await? {
                    Ok(unconfirmed.confirmed_by_contract())
                } else {
                    Err(unconfirmed.denied().into())
                }
            }
        }
    }
}

/// The timeliness of a payment: it can still be settled, or has expired and can only be looked up.
enum Timing {
    InTime,
    Late(PaymentRefusal),
}
