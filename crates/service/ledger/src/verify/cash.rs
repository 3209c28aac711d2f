//! Checks that the money received over each network equals the settled payments on its chain.

use std::collections::{BTreeMap, HashMap};

use ledger_core::{
    EntryId, InvariantViolation, LedgerAccount, LedgerInvariant, LedgerTransfer, SystemKind,
    TransferCode,
};
use money::Nano;
use store::evidence::{CreditedClaim, MissingClaim, ReceivedClaim, VerificationEvidence};

/// The settled payments with what the journal has of them, and the difference of both sums by network.
pub(super) struct CashAudit {
    settled: HashMap<EntryId, SettledCash>,
    /// Settled minus received in the journal, in nanos, by network.
    differences: BTreeMap<String, i128>,
    violations: Vec<InvariantViolation>,
}

/// A settled payment, and the sum of the journal's transfers of its entry. A payment of an owner with
/// a debt has two.
struct SettledCash {
    claim: CreditedClaim,
    booked: i128,
}

/// A transfer that moves cash: in, if `nanos` is above zero.
struct CashMove<'a> {
    network: &'a str,
    nanos: i128,
}

impl CashAudit {
    pub(super) fn from_evidence(evidence: &VerificationEvidence) -> CashAudit {
        let mut differences: BTreeMap<String, i128> = BTreeMap::new();
        for claim in &evidence.credited {
            *differences.entry(claim.network.clone()).or_default() += to_nanos(claim.amount);
        }
        let settled = evidence.credited.iter();
        let settled = settled
            .map(|claim| (claim.entry, SettledCash { claim: claim.clone(), booked: 0 }))
            .collect();
        let missing = evidence.missing.iter().map(report_missing_claim);
        let violations =
            missing.chain(evidence.received.iter().map(report_received_claim)).collect();
        CashAudit { settled, differences, violations }
    }

    pub(super) fn read(&mut self, transfer: &LedgerTransfer) {
        let Some(CashMove { network, nanos }) = find_cash_move(transfer) else { return };
        *self.differences.entry(network.to_owned()).or_default() -= nanos;
        let (entry, amount) = (transfer.entry.0, transfer.amount);
        let words = match self.settled.get_mut(&transfer.entry) {
            Some(settled) if settled.claim.network == network => {
                settled.booked += nanos;
                return;
            }
            Some(settled) => {
                let claim = &settled.claim;
                settled.booked += nanos;
                format!(
                    "entry {entry}: {amount} came in over {network}, and {} was settled on {}",
                    claim.amount, claim.network
                )
            }
            None if nanos < 0 => {
                format!("entry {entry}: {amount} went out, and no payment was taken back for it")
            }
            None => format!("entry {entry}: {amount} came in, and no payment was settled for it"),
        };
        self.violations.push(LedgerInvariant::Cash.violation(words));
    }

    pub(super) fn finish(mut self) -> Vec<InvariantViolation> {
        for SettledCash { claim, booked } in self.settled.into_values() {
            let CreditedClaim { network, entry, amount } = claim;
            let entry = entry.0;
            let words = if booked == to_nanos(amount) {
                continue;
            } else if booked == 0 {
                format!("{amount} was settled on {network}, and entry {entry} is gone")
            } else {
                let booked = Nano::from_nanos(i64::try_from(booked).unwrap_or(i64::MAX));
                format!(
                    "entry {entry}: {booked} came in over {network}, and {amount} was settled on \
                     {network}"
                )
            };
            self.violations.push(LedgerInvariant::Cash.violation(words));
        }
        for (network, difference) in self.differences {
            if difference != 0 {
                let words =
                    format!("what was settled on {network} less what came in is {difference} nano");
                self.violations.push(LedgerInvariant::Cash.violation(words));
            }
        }
        self.violations
    }
}

fn find_cash_move(transfer: &LedgerTransfer) -> Option<CashMove<'_>> {
    let (account, sign) = match transfer.code {
        TransferCode::TopUp | TransferCode::Restoration | TransferCode::Repayment => {
            (&transfer.debit, 1)
        }
        TransferCode::Reversal | TransferCode::Shortfall => (&transfer.credit, -1),
        _ => return None,
    };
    let LedgerAccount::System(system) = account else { return None };
    let SystemKind::Cash(network) = &system.kind else { return None };
    Some(CashMove { network: network.name(), nanos: sign * to_nanos(transfer.amount) })
}

fn report_missing_claim(claim: &MissingClaim) -> InvariantViolation {
    let MissingClaim { network, transaction, entry, amount, since } = claim;
    let entry = entry.0;
    let words = format!(
        "entry {entry}: {amount} came in by {transaction}, which {network} does not show since {since}"
    );
    LedgerInvariant::Cash.violation(words)
}

fn report_received_claim(claim: &ReceivedClaim) -> InvariantViolation {
    let ReceivedClaim { claim, network, transaction, amount, since } = claim;
    let id = hex::encode(claim.0);
    let words = format!(
        "payment pay_{id}: {amount} came in by {transaction} on {network}, found {since}, and is \
         not credited: the payment had failed"
    );
    LedgerInvariant::Cash.violation(words)
}

fn to_nanos(amount: Nano) -> i128 {
    i128::from(amount.nanos())
}
