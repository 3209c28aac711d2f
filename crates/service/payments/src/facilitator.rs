//! Settles payments through a facilitator: a service that sends them to their chains for us.
//!
//! Its answers are not trusted: a payment that it reports is looked up on the chain before it is
//! credited, and if it gives no answer the chain is searched for the payment.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use store::claim::{PaymentClaim, SentPayment};
use wallet::{ContractCheck, SettlementData};

use crate::evm::{EvmChain, EvmNodes};
use crate::json_server::JsonServer;
use crate::node::CallError;
use crate::settler::{
    ChainSighting, PaymentDecline, PaymentPreparation, PaymentSettler, PreparedPayment,
    SettleFailure, SettlementOrder, SettlerFuture,
};
use crate::solana::{NEWEST, SolanaChain, SolanaNode};

/// The reference facilitator waits 30 s for its chain.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(50);

pub struct FacilitatorSettler {
    server: JsonServer,
    pub(crate) evm: Option<EvmChain>,
    pub(crate) solana: Option<SolanaChain>,
}

/// Our own nodes, which the facilitator's answers are checked against.
pub struct WitnessNodes<'a> {
    pub evm: Option<EvmNodes<'a>>,
    pub solana: Option<SolanaNode<'a>>,
}

impl FacilitatorSettler {
    pub fn new(url: &str, witnesses: &WitnessNodes<'_>) -> Result<FacilitatorSettler, String> {
        let server = JsonServer::new(url, ANSWER_TIMEOUT);
        let server = server.map_err(|error| format!("the facilitator's URL: {error}"))?;
        let evm = witnesses.evm.as_ref().map(EvmChain::new);
        let solana = witnesses.solana.as_ref().map(SolanaChain::new);
        Ok(FacilitatorSettler { server, evm: evm.transpose()?, solana: solana.transpose()? })
    }

    /// The facilitator's answer to `/supported`.
    pub(crate) async fn supported(&self) -> Result<Value, SettleFailure> {
        Ok(self.server.with_path("supported").get("facilitator /supported").await?.body)
    }

    pub(crate) async fn verify(&self, order: &SettlementOrder) -> Result<(), SettleFailure> {
        let request = order.payment.facilitator_request(&order.requirement);
        let server = self.server.with_path("verify");
        let answer = server.post(&request, "facilitator /verify").await?;
        let verified: VerifyResponse = serde_json::from_value(answer.body)
            .map_err(|error| unreadable_answer("/verify", answer.status, &error))?;
        if verified.is_valid {
            return Ok(());
        }
        log_reason("/verify", verified.invalid_reason.as_deref());
        Err(decline_with_reason(verified.invalid_reason).into())
    }

    /// Requests the settlement. Whatever the facilitator reports, the result is looked up on the
    /// chain later.
    async fn settle(&self, claim: &PaymentClaim) -> Result<ChainSighting, SettleFailure> {
        let payment: Value = serde_json::from_str(&claim.payment)
            .map_err(|_| SettleFailure::unable("the claim's payment cannot be read"))?;
        let request = json!({
            "x402Version": 2,
            "paymentRequirements": payment["accepted"],
            "paymentPayload": payment,
        });
        let server = self.server.with_path("settle");
        let answer = match server.post(&request, "facilitator /settle").await {
            Ok(answer) => answer,
            Err(error @ CallError::Unreached { .. }) => {
                return Ok(ChainSighting::Unsent(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        let settled: SettleResponse = serde_json::from_value(answer.body)
            .map_err(|error| unreadable_answer("/settle", answer.status, &error))?;
        let transaction = settled.transaction.filter(|it| is_name(it));
        if !settled.success {
            log_reason("/settle", settled.error_reason.as_deref());
        } else if transaction.is_none() {
            tracing::warn!("the facilitator settled a payment without a usable transaction id");
        }
        let reason = settled.error_reason.unwrap_or_default();
        if !settled.success && is_refusal(&reason) {
            return Ok(ChainSighting::Never(decline_with_reason(Some(reason))));
        }
        Ok(ChainSighting::Waiting { transaction })
    }

    async fn look_up_on_chain(&self, claim: &PaymentClaim) -> Result<ChainSighting, SettleFailure> {
        let is_evm = claim.network.starts_with("eip155:");
        match (is_evm, &self.evm, &self.solana) {
            (true, Some(chain), _) => chain.look_up(claim, None).await,
            (false, _, Some(chain)) => chain.look_up(claim).await,
            _ => Err(SettleFailure::unable("payments on this network are no longer settled")),
        }
    }
}

/// Logs why the facilitator declined a payment: the payer gets a fixed text if the reason is not a
/// plain word.
fn log_reason(path: &str, reason: Option<&str>) {
    let reason = reason.map_or_else(|| "no reason given".to_owned(), shorten_reason);
    tracing::warn!(reason, "the facilitator declined a payment at {path}: {reason}");
}

/// The beginning of a text from outside, without characters that change a log line.
fn shorten_reason(reason: &str) -> String {
    const REASON_CHARS_MAX: usize = 128;
    let is_plain = |it: char| it.is_ascii_graphic() || it == ' ';
    let plain = reason.chars().map(|it| if is_plain(it) { it } else { '?' });
    plain.take(REASON_CHARS_MAX).collect()
}

/// Logs why an answer cannot be read. The error quotes the answer, so callers do not get it.
fn unreadable_answer(path: &str, status: u16, error: &serde_json::Error) -> SettleFailure {
    tracing::warn!(%error, "the facilitator's answer to {path} cannot be read: {error}");
    SettleFailure::Unable(format!("{path}: HTTP {status}"))
}

impl PaymentSettler for FacilitatorSettler {
    fn prepare<'a>(&'a self, order: &'a SettlementOrder) -> SettlerFuture<'a, PaymentPreparation> {
        Box::pin(async move {
            let since_block = match (&order.verified.settlement, &self.evm, &self.solana) {
                (SettlementData::Evm(payment), Some(chain), _) => {
                    let head = chain.head().await?;
                    let terms = chain.terms(&order.requirement)?;
                    if let Some(found) = chain.check_before_send(&terms, payment, head).await? {
                        return Ok(found);
                    }
                    head.number
                }
                (SettlementData::Solana(_), _, Some(chain)) => chain.height(NEWEST).await?,
                _ => return Err(SettleFailure::unable("payments on this network are not settled")),
            };
            self.verify(order).await?;
            let since_block = Some(since_block);
            let sent = SentPayment { since_block, ..SentPayment::default() };
            Ok(PaymentPreparation::Ready(PreparedPayment { sent, turn: None }))
        })
    }

    fn send<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(self.settle(claim))
    }

    fn look_up<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        Box::pin(self.look_up_on_chain(claim))
    }

    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async move {
            match &self.solana {
                Some(chain) => chain.recent_blockhash().await.map(Some),
                None => Ok(None),
            }
        })
    }

    fn check_nodes(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async move {
            if let Some(chain) = &self.evm {
                chain.check_all_nodes().await?;
            }
            if let Some(chain) = &self.solana {
                chain.check_node().await?;
            }
            Ok(())
        })
    }

    fn confirms_signature<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        Box::pin(async move {
            match &self.evm {
                Some(chain) => chain.confirms_signature(check).await,
                None => Ok(false),
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerifyResponse {
    is_valid: bool,
    invalid_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SettleResponse {
    success: bool,
    transaction: Option<String>,
    error_reason: Option<String>,
}

/// True for reasons that a facilitator gives before it sends a payment. All others may come after
/// it was sent.
fn is_refusal(reason: &str) -> bool {
    let is_of_the_payload = reason.starts_with("invalid_exact_evm_payload")
        || reason.starts_with("invalid_exact_svm_payload");
    is_of_the_payload || reason == "insufficient_funds" || reason == "invalid_scheme"
}

fn decline_with_reason(reason: Option<String>) -> PaymentDecline {
    const WORD_CHARS_MAX: usize = 128;
    let is_word = |reason: &String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !reason.is_empty() && reason.len() <= WORD_CHARS_MAX && reason.bytes().all(is_plain)
    };
    let reason = reason.filter(is_word).unwrap_or_else(|| "invalid_payload".to_owned());
    let message = "The payment would fail: see `details.reason`";
    PaymentDecline::new(reason, message)
}

/// True if a text can be a transaction id on either chain.
fn is_name(text: &str) -> bool {
    let is_short = !text.is_empty() && text.len() <= 90;
    is_short && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
