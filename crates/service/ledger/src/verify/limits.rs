//! Checks that keys spent no more than their limits allow.

use std::collections::HashMap;
use std::time::Duration;

use ledger_core::{
    InvariantViolation, KeyId, KeySpendRow, LedgerInvariant, LimitClass, LimitPeriod,
};
use moment::Timestamp;
use money::Nano;
use store::evidence::{LimitedKey, VerificationEvidence};

/// Longest time between a change of a limit and the last hold by a request that was admitted under
/// the old one.
const OLD_LIMIT_KEPT: Duration = Duration::from_secs(3600);

/// Compares what each key spent in its newest period with its limit, if the key had that limit for
/// the whole period.
pub(super) fn check_key_limits(evidence: &VerificationEvidence) -> Vec<InvariantViolation> {
    let spends = evidence.books.snapshot.key_spends.iter();
    let spends: HashMap<(KeyId, LimitClass), &KeySpendRow> =
        spends.map(|row| ((row.key, row.class), row)).collect();
    let mut violations = Vec::new();
    for key in &evidence.limited_keys {
        for class in LimitClass::ALL {
            let (limit, row) = (key.terms.limit(class), spends.get(&(key.key(), class)));
            let (Some(limit), Some(row)) = (limit, row) else { continue };
            let Some(spent) = spent_under_limit(key, row) else { continue };
            if limit < spent {
                let (name, period) = (class.name(), key.terms.period.name());
                let words = format!(
                    "key {} spent {spent} of {name} in its newest {period}, and may spend {limit}",
                    key.key().0
                );
                violations.push(LedgerInvariant::KeySpent.violation(words));
            }
        }
    }
    violations
}

fn spent_under_limit(key: &LimitedKey, row: &KeySpendRow) -> Option<Nano> {
    let (began, spent) = match key.terms.period {
        LimitPeriod::Epoch => (Timestamp::start_of_day(row.day), row.day_spent),
        LimitPeriod::Month => (Timestamp::start_of_month(row.month), row.month_spent),
        LimitPeriod::Lifetime => (key.created, row.lifetime_spent),
    };
    let was_made_with_it = key.since <= key.created;
    let is_settled = was_made_with_it || key.since.plus(OLD_LIMIT_KEPT) <= began;
    is_settled.then_some(spent)
}
