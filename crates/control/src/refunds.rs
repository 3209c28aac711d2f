//! Giving a charge back, whole or in part, once.

use credits::{EntryId, Leg};
use indexmap::IndexMap;
use ledger::Refunded;
use money::{Currency, Nano};
use uuid::Uuid;

use crate::actor::Actor;
use crate::audit::check_reason;
use crate::operation::OperationError;
use crate::reply::{Balances, RefundReport};
use crate::service::Service;

impl Service {
    pub(crate) async fn refund_charge(
        &self,
        by: &Actor,
        charge: Uuid,
        amount: Option<&str>,
        reason: &str,
    ) -> Result<RefundReport, OperationError> {
        let reason = check_reason(reason)?;
        let amount = match amount {
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
            Refunded::Before => Err(OperationError::Refused(format!(
                "the charge {charge} was given back before; that is done once, whole or in part"
            ))),
        }
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
