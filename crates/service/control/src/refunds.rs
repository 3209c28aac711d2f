//! Refunds a charge, fully or in part, once.

use indexmap::IndexMap;
use ledger::RefundOutcome;
use ledger_core::{EntryId, LedgerAccount, LedgerTransfer, PaymentLeg, TransferCode};
use money::{BalanceCurrency, Nano};
use uuid::Uuid;

use crate::actor::AuditActor;
use crate::audit::check_reason;
use crate::operation::OperationError;
use crate::reply::{BalanceTexts, RefundReport};
use crate::service::ControlService;

/// A requested refund.
pub(crate) struct RefundOrder {
    pub(crate) charge: Uuid,
    pub(crate) amount: Option<String>,
    pub(crate) reason: String,
    /// Set on a retry after a lost response.
    pub(crate) is_repeat: bool,
}

impl ControlService {
    pub(crate) async fn refund_charge(
        &self,
        by: &AuditActor,
        order: RefundOrder,
    ) -> Result<RefundReport, OperationError> {
        let RefundOrder { charge, amount, reason, is_repeat } = order;
        let reason = check_reason(&reason)?;
        let amount = match amount.as_deref() {
            None => None,
            Some(text) => {
                let parsed = Nano::parse_positive(text);
                Some(parsed.map_err(|error| OperationError::Refused(error.to_string()))?)
            }
        };
        let how_much = amount.map_or("whole".to_owned(), |amount| amount.to_string());
        let detail = format!("{how_much}: {reason}");
        let told = self.build_audit_row(by, "ledger refund", &charge.to_string(), detail);
        let refunded = self.ledger.refund(EntryId(charge), amount, &reason, vec![told]).await?;
        match refunded {
            RefundOutcome::Now(refund) => Ok(RefundReport {
                charge,
                refund: refund.entry.0,
                returned: by_currency(&refund.returned),
                lapsed: by_currency(&refund.lapsed),
            }),
            RefundOutcome::Before if is_repeat => self.recorded_refund(charge).await,
            RefundOutcome::Before => Err(OperationError::Refused(format!(
                "the charge {charge} was already refunded, which is possible only once"
            ))),
        }
    }

    /// The refund of a charge, from the journal.
    async fn recorded_refund(&self, charge: Uuid) -> Result<RefundReport, OperationError> {
        let refund = EntryId(charge).refund_entry();
        let (mut returned, mut lapsed) = (Vec::new(), Vec::new());
        for recorded in self.store.find_transfers(refund).await? {
            let LedgerTransfer { code, debit, credit, amount, .. } = recorded.transfer;
            match (code, debit, credit) {
                (TransferCode::Refund, _, LedgerAccount::Lot(lot)) => {
                    returned.push(PaymentLeg { lot, amount })
                }
                (TransferCode::Expiry, LedgerAccount::Lot(lot), _) => {
                    lapsed.push(PaymentLeg { lot, amount })
                }
                _ => {}
            }
        }
        returned.retain(|leg| !lapsed.contains(leg));
        let (returned, lapsed) = (by_currency(&returned), by_currency(&lapsed));
        Ok(RefundReport { charge, refund: refund.0, returned, lapsed })
    }
}

fn by_currency(legs: &[PaymentLeg]) -> BalanceTexts {
    let mut sums: IndexMap<BalanceCurrency, Nano> = IndexMap::new();
    for leg in legs {
        let sum = sums.entry(leg.lot.currency).or_insert(Nano::ZERO);
        *sum = sum.saturating_add(leg.amount);
    }
    sums.into_iter().map(|(currency, sum)| (currency.name().to_owned(), sum.to_string())).collect()
}
