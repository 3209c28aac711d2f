//! What the rest of the service calls: terms to offer, payments to settle, contracts to ask.

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

/// Takes payments in, and sees each of them through.
#[derive(Clone)]
pub struct Payments {
    pub(crate) desk: Arc<Desk>,
    pub(crate) in_flight: InFlightPayments,
    pub(crate) blockhash: Arc<Mutex<Option<Blockhash>>>,
}

/// A block of Solana's, and when it was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blockhash {
    pub(crate) asked: Timestamp,
    pub(crate) hash: [u8; 32],
}

/// What settling needs, shared by every course.
pub(crate) struct Desk {
    pub(crate) terms: PaymentTerms,
    pub(crate) policy: Policy,
    pub(crate) settler: Arc<dyn Settler>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Empty where there is one node.
    pub(crate) elsewhere: OnceLock<Arc<dyn Elsewhere>>,
}

/// Sends credits to the home of the owner.
pub trait Elsewhere: Send + Sync {
    /// Has a node ask the chain about a claim, and credit what arrived.
    fn credit(&self, node: String, claim: ClaimId) -> Credited<'_>;
}

pub type Credited<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// What the service hands in.
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub settler: Arc<dyn Settler>,
    pub clock: Arc<dyn Clock>,
    pub tasks: TaskTracker,
}

#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// How long a request waits for the chain before it is answered that its payment is pending.
    pub wait: Duration,
    /// How long between two looks at the chain.
    pub poll: Duration,
    /// How long what was sent may wait to be mined before something dearer is sent in its place.
    pub replace_after: Duration,
    /// How long after its credit a payment is looked up for the first time again.
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

    /// Once, where there are other nodes.
    pub fn share(&self, elsewhere: Arc<dyn Elsewhere>) {
        let _ = self.desk.elsewhere.set(elsewhere);
    }

    /// Asks every node which chain it serves.
    pub async fn identify(&self) -> Result<(), Setback> {
        self.desk.settler.identify().await
    }

    pub fn terms(&self) -> &PaymentTerms {
        &self.desk.terms
    }

    /// Every way to pay, as `accepts` lists it.
    pub fn accepts(&self) -> Vec<Requirement> {
        self.desk.terms.accepts()
    }

    /// Settles the payment in a header and credits what moved to its payer.
    ///
    /// The same payment again, at the same time or years later, gives the same result. If the
    /// caller goes away the settlement goes on.
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

    /// Asks the chain about one claim now, in whatever state it is, and does what follows.
    pub async fn ask_again(&self, claim: ClaimId) -> Result<Settled, TopUpRefused> {
        let desk = Arc::clone(&self.desk);
        let pending = self.in_flight.join(claim, || async move { desk.ask_again(claim).await });
        let pending = pending.ok_or(TopUpRefused::Busy)?;
        pending.outcome().await.unwrap_or(Err(TopUpRefused::Unavailable))
    }

    /// Gives up a claim that is not finished, with `also` in the same group. One that somebody is
    /// at work on is [`TopUpRefused::Busy`].
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

    /// Whether the contract at an address says that a signature is its own: ERC-1271.
    pub async fn contract_confirms(&self, check: &ContractCheck) -> Result<bool, TopUpRefused> {
        self.desk.settler.confirms(check).await.map_err(|setback| {
            tracing::warn!(cause = %setback, "a contract wallet could not be asked: {setback}");
            TopUpRefused::Unavailable
        })
    }

    /// Judges a payment, with the help of its payer's contract where there is one. The signature of
    /// one that is too late is judged all the same: its result is for its payer only.
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

/// Whether a payment can still be settled, or only be asked about.
enum Timing {
    InTime,
    Late(PaymentRefusal),
}
