//! Checks that the money received over each network equals the settled payments on its chain.

use std::collections::{BTreeMap, HashMap};

use ledger_core::{
    EntryId, InvariantViolation, LedgerAccount, LedgerInvariant, LedgerTransfer, SystemKind,
    TransferCode,
};
use money::Nano;
use store::evidence::{CreditedClaim, MissingClaim, ReceivedClaim, VerificationEvidence};

/// The payments not yet seen in the journal, and the difference of both sums by network.
pub(super) struct CashAudit {
    unbooked: HashMap<EntryId, CreditedClaim>,
    /// Settled on chain minus received in the journal, in nanos, by network.
    differences: BTreeMap<String, i128>,
    violations: Vec<InvariantViolation>,
}

impl CashAudit {
    pub(super) fn from_evidence(evidence: &VerificationEvidence) -> CashAudit {
        let mut differences: BTreeMap<String, i128> = BTreeMap::new();
        for claim in &evidence.credited {
            *differences.entry(claim.network.clone()).or_default() += to_nanos(claim.amount);
        }
        let unbooked = evidence.credited.iter().map(|claim| (claim.entry, claim.clone())).collect();
        let missing = evidence.missing.iter().map(report_missing_claim);
        let violations =
            missing.chain(evidence.received.iter().map(report_received_claim)).collect();
        CashAudit { unbooked, differences, violations }
    }

    pub(super) fn read(&mut self, transfer: &LedgerTransfer) {
        let (TransferCode::TopUp, LedgerAccount::System(from)) = (transfer.code, &transfer.debit)
        else {
            return;
        };
        let SystemKind::Cash(network) = &from.kind else { return };
        *self.differences.entry(network.name().to_owned()).or_default() -=
            to_nanos(transfer.amount);
        let (entry, amount) = (transfer.entry.0, transfer.amount);
        let words = match self.unbooked.remove(&transfer.entry) {
            Some(claim) if claim.amount == amount && claim.network == network.name() => return,
            Some(claim) => format!(
                "entry {entry}: {amount} came in over {}, and {} was settled on {}",
                network.name(),
                claim.amount,
                claim.network
            ),
            None => format!("entry {entry}: {amount} came in, and no payment was settled for it"),
        };
        self.violations.push(LedgerInvariant::Cash.violation(words));
    }

    pub(super) fn finish(mut self) -> Vec<InvariantViolation> {
        for claim in self.unbooked.into_values() {
            let CreditedClaim { network, entry, amount } = claim;
            let words = format!("{amount} was settled on {network}, and entry {} is gone", entry.0);
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
