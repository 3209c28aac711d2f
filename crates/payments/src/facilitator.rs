//! Settles payments through a facilitator: a service that sends them to their chains for us.
//!
//! Its answers are not trusted: a payment that it reports is looked up on the chain before it is
//! credited, and if it gives no answer the chain is searched for the payment.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use store::claim::{Claim, SentPayment};
use wallet::{ContractCheck, Settlement};

use crate::evm::{EvmChain, EvmNodes};
use crate::json_server::JsonServer;
use crate::node::CallError;
use crate::settler::{
    Decline, Order, Preparation, Prepared, Setback, Settler, SettlerFuture, Sighting,
};
use crate::solana::{NEWEST, SolanaChain, SolanaNode};

/// The reference facilitator waits 30 s for its chain.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(50);

pub struct Facilitator {
    server: JsonServer,
    pub(crate) evm: Option<EvmChain>,
    pub(crate) solana: Option<SolanaChain>,
}

/// Our own nodes, which the facilitator's answers are checked against.
pub struct Witnesses<'a> {
    pub evm: Option<EvmNodes<'a>>,
    pub solana: Option<SolanaNode<'a>>,
}

impl Facilitator {
    pub fn new(url: &str, witnesses: &Witnesses<'_>) -> Result<Facilitator, String> {
        let server = JsonServer::new(url, ANSWER_TIMEOUT);
        let server = server.map_err(|error| format!("the facilitator's URL: {error}"))?;
        let evm = witnesses.evm.as_ref().map(EvmChain::new);
        let solana = witnesses.solana.as_ref().map(SolanaChain::new);
        Ok(Facilitator { server, evm: evm.transpose()?, solana: solana.transpose()? })
    }

    /// The facilitator's answer to `/supported`.
    pub(crate) async fn supported(&self) -> Result<Value, Setback> {
        Ok(self.server.beneath("supported").get("facilitator /supported").await?.body)
    }

    async fn verify(&self, order: &Order) -> Result<(), Setback> {
        let request = order.payment.facilitator_request(&order.requirement);
        let server = self.server.beneath("verify");
        let answer = server.post(&request, "facilitator /verify").await?;
        let verified: Verified = serde_json::from_value(answer.body)
            .map_err(|_| Setback::Unable(format!("/verify: HTTP {}", answer.status)))?;
        if verified.is_valid {
            return Ok(());
        }
        Err(declined(verified.invalid_reason).into())
    }

    /// Requests the settlement. Whatever the facilitator reports, the result is looked up on the
    /// chain later.
    async fn settle(&self, claim: &Claim) -> Result<Sighting, Setback> {
        let payment: Value = serde_json::from_str(&claim.payment)
            .map_err(|_| Setback::unable("the claim's payment cannot be read"))?;
        let request = json!({
            "x402Version": 2,
            "paymentRequirements": payment["accepted"],
            "paymentPayload": payment,
        });
        let server = self.server.beneath("settle");
        let answer = match server.post(&request, "facilitator /settle").await {
            Ok(answer) => answer,
            Err(error @ CallError::Unreached { .. }) => {
                return Ok(Sighting::Unsent(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        let settled: Settled = serde_json::from_value(answer.body)
            .map_err(|_| Setback::Unable(format!("/settle: HTTP {}", answer.status)))?;
        let reason = settled.error_reason.unwrap_or_default();
        if !settled.success && is_refusal(&reason) {
            return Ok(Sighting::Never(declined(Some(reason))));
        }
        let transaction = settled.transaction.filter(|it| is_name(it));
        Ok(Sighting::Waiting { transaction })
    }

    async fn witness(&self, claim: &Claim) -> Result<Sighting, Setback> {
        let is_evm = claim.network.starts_with("eip155:");
        match (is_evm, &self.evm, &self.solana) {
            (true, Some(chain), _) => chain.look(claim, None).await,
            (false, _, Some(chain)) => chain.look(claim).await,
            _ => Err(Setback::unable("payments on this network are not settled any more")),
        }
    }
}

impl Settler for Facilitator {
    fn prepare<'a>(&'a self, order: &'a Order) -> SettlerFuture<'a, Preparation> {
        Box::pin(async move {
            let since_block = match (&order.verified.settlement, &self.evm, &self.solana) {
                (Settlement::Evm(payment), Some(chain), _) => {
                    let head = chain.head().await?;
                    let terms = chain.terms(&order.requirement)?;
                    if let Some(found) = chain.found(&terms, payment, head).await? {
                        return Ok(found);
                    }
                    head.number
                }
                (Settlement::Solana(_), _, Some(chain)) => chain.height(NEWEST).await?,
                _ => return Err(Setback::unable("payments on this network are not settled")),
            };
            self.verify(order).await?;
            let since_block = Some(since_block);
            let sent = SentPayment { since_block, ..SentPayment::default() };
            Ok(Preparation::Ready(Prepared { sent, turn: None }))
        })
    }

    fn send<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting> {
        Box::pin(self.settle(claim))
    }

    fn look<'a>(&'a self, claim: &'a Claim) -> SettlerFuture<'a, Sighting> {
        Box::pin(self.witness(claim))
    }

    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async move {
            match &self.solana {
                Some(chain) => chain.recent_blockhash().await.map(Some),
                None => Ok(None),
            }
        })
    }

    fn identify(&self) -> SettlerFuture<'_, ()> {
        Box::pin(async move {
            if let Some(chain) = &self.evm {
                chain.identify_all().await?;
            }
            if let Some(chain) = &self.solana {
                chain.identify().await?;
            }
            Ok(())
        })
    }

    fn confirms<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        Box::pin(async move {
            match &self.evm {
                Some(chain) => chain.confirms(check).await,
                None => Ok(false),
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verified {
    is_valid: bool,
    invalid_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settled {
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

fn declined(reason: Option<String>) -> Decline {
    const WORD_CHARS_MAX: usize = 128;
    let is_word = |reason: &String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !reason.is_empty() && reason.len() <= WORD_CHARS_MAX && reason.bytes().all(is_plain)
    };
    let reason = reason.filter(is_word).unwrap_or_else(|| "invalid_payload".to_owned());
    let message = "The payment would not go through: look at `details.reason`";
    Decline::new(reason, message)
}

/// True if a text can be a transaction id on either chain.
fn is_name(text: &str) -> bool {
    let is_short = !text.is_empty() && text.len() <= 90;
    is_short && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
