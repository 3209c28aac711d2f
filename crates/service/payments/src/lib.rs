//! Payments that are settled on their chain exactly once.
//!
//! [`PaymentService::top_up`] takes a payment header and returns when the money is in the ledger, or says
//! why it is not. In between, the payment is a claim in the store: opened before the chain is
//! queried, holding each transaction before it is sent, and credited in one transaction with the
//! ledger. After a crash, [`PaymentService::reconcile`] looks up the unfinished claims on the chain.
//!
//! Map of the modules:
//! - `payments`: the interface for the rest of the service. `outcome`: its results.
//! - `claim_steps`: the steps of one claim. `late_claims`: failed claims that are paid after all.
//!   `in_flight`: each payment is processed once, however many requests wait for it.
//! - `reconcile`: claims that no request waits for. `recheck`: looks up credited ones again.
//!   `payee`: the owner that a payment is credited to.
//! - `settler`: the interface for sending payments. `direct`: with keys of our own.
//!   `facilitator`: through a service that does it for us.
//! - `inspect`: checks everything that settling needs.
//! - `evm`, `solana`: the queries and transactions of each chain. `node`, `json_server`: the
//!   clients. `chain_identity`: checks that a node serves the right chain. `fee_budget`: limits the
//!   fees of our own keys.
//! - `unsigned_transaction`: transactions for wallets in a browser to sign.
//! - `stakes`: the stakes of wallets, which are not payments.

mod chain_identity;
mod claim_steps;
mod direct;
mod evm;
mod facilitator;
mod fee_budget;
mod in_flight;
mod inspect;
mod json_server;
mod late_claims;
mod node;
mod outcome;
mod payee;
mod payments;
mod recheck;
mod reconcile;
mod settler;
mod solana;
mod stakes;
mod unsigned_transaction;

pub use direct::{DirectSettler, EvmSetup, SolanaSetup};
pub use evm::EvmNodes;
pub use facilitator::{FacilitatorSettler, WitnessNodes};
pub use inspect::{FindingRemedy, InspectionFinding};
pub use outcome::{SettledPayment, TopUpRefusal};
pub use payments::{CreditFuture, PaymentParts, PaymentPolicy, PaymentService, RemoteCreditor};
pub use reconcile::ReconcileSummary;
pub use settler::{
    ChainSighting, ConfirmedTransfer, PaymentDecline, PaymentPreparation, PaymentSettler,
    PreparedPayment, SendSlot, SettleFailure, SettlementOrder, SettlerFuture,
};
pub use solana::{SolanaCommitment, SolanaNode};
pub use stakes::StakeContractClient;
pub use unsigned_transaction::UnsignedPaymentFault;

#[cfg(test)]
mod tests;
