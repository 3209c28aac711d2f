//! Refunds a charge, fully or in part, once.

use credits::{Account, EntryId, Leg, Transfer, TransferCode};
use indexmap::IndexMap;
use ledger::Refunded;
use money::{Currency, Nano};
use uuid::Uuid;

use crate::actor::Actor;
use crate::audit::check_reason;
use crate::operation::OperationError;
use crate::reply::{Balances, RefundReport};
use crate::service::Service;

/// A requested refund.
pub(crate) struct RefundOrder {
    pub(crate) charge: Uuid,
    pub(crate) amount: Option<String>,
    pub(crate) reason: String,
    /// Set on a retry after a lost response.
    pub(crate) is_repeat: bool,
}

impl Service {
    pub(crate) async fn refund_charge(
        &self,
        by: &Actor,
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
        let told = self.audit(by, "ledger refund", &charge.to_string(), detail);
        let refunded = self.ledger.refund(EntryId(charge), amount, &reason, vec![told]).await?;
        match refunded {
            Refunded::Now(refund) => Ok(RefundReport {
                charge,
                refund: refund.entry.0,
                returned: by_currency(&refund.returned),
                lapsed: by_currency(&refund.lapsed),
            }),
            Refunded::Before if is_repeat => self.recorded_refund(charge).await,
            Refunded::Before => Err(OperationError::Refused(format!(
                "the charge {charge} was given back before; that is done once, whole or in part"
            ))),
        }
    }

    /// The refund of a charge, from the journal.
    async fn recorded_refund(&self, charge: Uuid) -> Result<RefundReport, OperationError> {
        let refund = EntryId(charge).refund();
        let (mut returned, mut lapsed) = (Vec::new(), Vec::new());
        for recorded in self.store.transfers(refund).await? {
            let Transfer { code, debit, credit, amount, .. } = recorded.transfer;
            match (code, debit, credit) {
                (TransferCode::Refund, _, Account::Lot(lot)) => returned.push(Leg { lot, amount }),
                (TransferCode::Expiry, Account::Lot(lot), _) => lapsed.push(Leg { lot, amount }),
                _ => {}
            }
        }
        returned.retain(|leg| !lapsed.contains(leg));
        let (returned, lapsed) = (by_currency(&returned), by_currency(&lapsed));
        Ok(RefundReport { charge, refund: refund.0, returned, lapsed })
    }
}

fn by_currency(legs: &[Leg]) -> Balances {
    let mut sums: IndexMap<Currency, Nano> = IndexMap::new();
    for leg in legs {
        let sum = sums.entry(leg.lot.currency).or_insert(Nano::ZERO);
        *sum = sum.saturating_add(leg.amount);
    }
    sums.into_iter().map(|(currency, sum)| (currency.name().to_owned(), sum.to_string())).collect()
}
