//! What a chat came to, and its charge.

use credits::Receipt;
use domain::catalogue::Capability;
use engine::Usage;
use ledger::Charge;

use super::Candidate;
use super::believe::{Used, billed};
use crate::payment;
use crate::purse::Purse;
use crate::refusal::inference::Failure;

/// What an answer came to.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) usage: Usage,
    pub(crate) receipt: Receipt,
}

/// Remembers what an enclave calls its answer, so that it can be asked to sign for it.
pub(super) fn note_name(purse: &Purse, candidate: &Candidate, name: Option<&str>) {
    let is_attested =
        candidate.model.text().is_some_and(|text| text.has(Capability::TeeAttestation));
    if let (true, Some(name)) = (is_attested, name) {
        purse.app.engines.answer_names.note(purse.request_id.as_str(), name.to_owned());
    }
}

/// Charges for what was produced, and waits until that is durable. Nothing produced costs nothing.
pub(super) async fn settle(
    purse: Purse,
    candidate: &Candidate,
    used: Used,
) -> Result<Settled, Failure> {
    let billed = billed(&used, &candidate.quote);
    let usage = billed.unwrap_or_default();
    let charge = |details| match billed {
        Some(usage) => payment::token_charge(&candidate.model, &candidate.price, usage, details),
        None => Charge::default(),
    };
    let receipt = purse.pay(usage.total(), charge).await?;
    Ok(Settled { usage, receipt })
}
