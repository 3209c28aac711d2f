//! Settles a chat: charges for the answer.

use domain::catalogue::TextCapability;
use engine::EngineUsage;
use ledger::WorkCharge;
use ledger_core::ChargeReceipt;

use super::credible_usage::{MeasuredUsage, bill_usage};
use super::{ChatCandidate, ExtraCharges};
use crate::metering_faults::MeteringFault;
use crate::paid_work::HeldFunds;
use crate::payment;
use crate::refusal::inference::InferenceFailure;

/// The billed tokens of an answer, and their receipt.
#[derive(Debug)]
pub struct ChatSettlement {
    pub usage: EngineUsage,
    pub receipt: ChargeReceipt,
}

/// The token counts of an answer, and the provider that reported them.
#[derive(Clone, Copy)]
pub(super) struct MeteredAnswer<'a> {
    pub(super) used: MeasuredUsage,
    /// The provider that answered, if a pool chose it.
    pub(super) provider: Option<&'a str>,
}

/// Stores an enclave's id of its answer, with which a signature can be requested later.
pub(super) fn remember_upstream_id(
    funds: &HeldFunds,
    candidate: &ChatCandidate,
    name: Option<&str>,
) {
    let is_attested = candidate
        .model
        .text_spec()
        .is_some_and(|text| text.has_capability(TextCapability::TeeAttestation));
    if let (true, Some(name)) = (is_attested, name) {
        funds
            .app
            .engines
            .answer_names
            .record_upstream_id(funds.request_id.as_str(), name.to_owned());
    }
}

/// Charges for what was produced and waits until the charge is durable. An empty answer is free.
pub(super) async fn settle_chat(
    funds: HeldFunds,
    candidate: &ChatCandidate,
    metered: MeteredAnswer<'_>,
    extras: ExtraCharges,
) -> Result<ChatSettlement, InferenceFailure> {
    let billed = bill_usage(&metered.used, &candidate.quote);
    if let Some(fault) = billed.fault {
        record_usage_fault(&funds, candidate, metered, fault);
    }
    let usage = billed.usage.unwrap_or_default();
    let charge = billed.usage.map_or_else(WorkCharge::default, |usage| {
        let mut charge = payment::token_charge(&candidate.model, &candidate.price, usage);
        charge.lines.extend(extras.lines);
        charge
    });
    let receipt = funds.pay(usage.total(), charge).await?;
    Ok(ChatSettlement { usage, receipt })
}

/// Logs and counts a report that was not billed unchanged.
pub(super) fn record_usage_fault(
    funds: &HeldFunds,
    candidate: &ChatCandidate,
    metered: MeteredAnswer<'_>,
    fault: MeteringFault,
) {
    let route = candidate.model.routes.first().map(|route| route.provider.as_str());
    let provider = metered.provider.or(route).unwrap_or("unknown");
    funds.app.engines.metering_faults.record_fault(provider, fault);
    tracing::warn!(
        provider,
        model = candidate.model.id,
        request_id = funds.request_id.as_str(),
        used = ?metered.used,
        "the provider `{provider}` reported implausible tokens, which are not billed: {fault:?}"
    );
}
