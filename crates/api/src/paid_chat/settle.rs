//! Settles a chat: charges for the answer.

use credits::Receipt;
use domain::catalogue::Capability;
use engine::Usage;
use ledger::Charge;

use super::credible_usage::{Used, billed};
use super::{Candidate, Extras};
use crate::metering_faults::MeteringFault;
use crate::paid::HeldFunds;
use crate::payment;
use crate::refusal::inference::Failure;

/// The billed tokens of an answer, and their receipt.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) usage: Usage,
    pub(crate) receipt: Receipt,
}

/// The token counts of an answer, and the provider that reported them.
#[derive(Clone, Copy)]
pub(super) struct MeteredAnswer<'a> {
    pub(super) used: Used,
    /// The provider that answered, if a pool chose it.
    pub(super) provider: Option<&'a str>,
}

/// Stores an enclave's id of its answer, with which a signature can be requested later.
pub(super) fn note_name(funds: &HeldFunds, candidate: &Candidate, name: Option<&str>) {
    let is_attested =
        candidate.model.text().is_some_and(|text| text.has(Capability::TeeAttestation));
    if let (true, Some(name)) = (is_attested, name) {
        funds.app.engines.answer_names.note(funds.request_id.as_str(), name.to_owned());
    }
}

/// Charges for what was produced and waits until the charge is durable. An empty answer is free.
pub(super) async fn settle(
    funds: HeldFunds,
    candidate: &Candidate,
    metered: MeteredAnswer<'_>,
    extras: Extras,
) -> Result<Settled, Failure> {
    let billed = billed(&metered.used, &candidate.quote);
    if let Some(fault) = billed.fault {
        note_fault(&funds, candidate, metered, fault);
    }
    let usage = billed.usage.unwrap_or_default();
    let charge = billed.usage.map_or_else(Charge::default, |usage| {
        let mut charge = payment::token_charge(&candidate.model, &candidate.price, usage);
        charge.lines.extend(extras.lines);
        charge
    });
    let receipt = funds.pay(usage.total(), charge).await?;
    Ok(Settled { usage, receipt })
}

/// Logs and counts a report that was not billed unchanged.
fn note_fault(
    funds: &HeldFunds,
    candidate: &Candidate,
    metered: MeteredAnswer<'_>,
    fault: MeteringFault,
) {
    let route = candidate.model.routes.first().map(|route| route.provider.as_str());
    let provider = metered.provider.or(route).unwrap_or("unknown");
    funds.app.engines.metering_faults.note(provider, fault);
    tracing::warn!(
        provider,
        model = candidate.model.id,
        request_id = funds.request_id.as_str(),
        used = ?metered.used,
        "the provider `{provider}` reported tokens that are not billed as they came: {fault:?}"
    );
}
