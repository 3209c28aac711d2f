//! What a chat came to, and its charge.

use credits::Receipt;
use domain::catalogue::Capability;
use engine::Usage;
use ledger::Charge;

use super::credible_usage::{Used, billed};
use super::{Candidate, Extras};
use crate::paid::HeldFunds;
use crate::payment;
use crate::refusal::inference::Failure;

/// What an answer came to.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) usage: Usage,
    pub(crate) receipt: Receipt,
}

/// Remembers what an enclave calls its answer, so that it can be asked to sign for it.
pub(super) fn note_name(funds: &HeldFunds, candidate: &Candidate, name: Option<&str>) {
    let is_attested =
        candidate.model.text().is_some_and(|text| text.has(Capability::TeeAttestation));
    if let (true, Some(name)) = (is_attested, name) {
        funds.app.engines.answer_names.note(funds.request_id.as_str(), name.to_owned());
    }
}

/// Charges for what was produced, and waits until that is durable. Nothing produced costs nothing.
pub(super) async fn settle(
    funds: HeldFunds,
    candidate: &Candidate,
    used: Used,
    extras: Extras,
) -> Result<Settled, Failure> {
    let billed = billed(&used, &candidate.quote);
    let usage = billed.unwrap_or_default();
    let charge = billed.map_or_else(Charge::default, |usage| {
        let mut charge = payment::token_charge(&candidate.model, &candidate.price, usage);
        charge.lines.extend(extras.lines);
        charge
    });
    let receipt = funds.pay(usage.total(), charge).await?;
    Ok(Settled { usage, receipt })
}
