//! Checks that money left an expiring lot only when it was allowed to.

use hashbrown::HashMap;
use moment::Timestamp;
use uuid::Version;

use crate::account::{LedgerAccount, LotKey, LotTag};
use crate::allowance::AllowanceKind;
use crate::id::EntryId;
use crate::record::{LedgerTransfer, TransferCode};
use crate::snapshot::{LedgerSnapshot, LotRow};
use crate::violation::{InvariantViolation, LedgerInvariant};

/// The expiry of each lot that has one.
#[derive(Debug, Default)]
pub(super) struct LotExpiries {
    by_lot: HashMap<LotKey, Timestamp>,
}

impl LotExpiries {
    pub(super) fn from_snapshot(snapshot: &LedgerSnapshot) -> LotExpiries {
        let lots = snapshot.lots.iter();
        LotExpiries { by_lot: lots.filter_map(|row| Some((row.lot, row.expires_at?))).collect() }
    }

    pub(super) fn read(&self, transfer: &LedgerTransfer) -> Result<(), InvariantViolation> {
        let LedgerAccount::Lot(lot) = &transfer.debit else { return Ok(()) };
        let Some(expires_at) = self.by_lot.get(lot) else { return Ok(()) };
        let is_right = match transfer.code {
            // A charge may come after the expiry if its hold was made before.
            TransferCode::Charge => match transfer.entry.made_at() {
                Some(held_at) => held_at < *expires_at,
                None => true,
            },
            TransferCode::Expiry => *expires_at <= transfer.at,
            _ => true,
        };
        if is_right {
            return Ok(());
        }
        let (code, entry) = (transfer.code.name(), transfer.entry.0);
        let words = format!("entry {entry}: {code} of {lot}, which expires {expires_at}");
        Err(LedgerInvariant::NoSpendAfterExpiry.violation(words))
    }
}

/// Checks that a lot expires when its tag says. A grant's expiry was chosen freely and is stored
/// nowhere else, so it only has to exist.
pub(super) fn check_lot_expiry(row: &LotRow) -> Result<(), InvariantViolation> {
    let LotRow { lot, expires_at, .. } = row;
    let named = match lot.tag {
        LotTag::Main | LotTag::Debt => None,
        LotTag::Day(day) => Some(AllowanceKind::DiemDaily.ends_at(day)),
        LotTag::Month(month) => Some(AllowanceKind::BundledMonthly.ends_at(month)),
        LotTag::Grant(_) if expires_at.is_some() => return Ok(()),
        LotTag::Grant(_) => Some(Timestamp::MAX),
    };
    if *expires_at == named {
        return Ok(());
    }
    let words = match (expires_at, lot.tag) {
        (None, _) => format!("{lot} expires by its name, and its row says never"),
        (Some(at), LotTag::Main | LotTag::Debt) => {
            format!("{lot} never expires, and its row says {at}")
        }
        (Some(at), _) => format!("{lot} does not expire when its name says: its row says {at}"),
    };
    Err(LedgerInvariant::NoSpendAfterExpiry.violation(words))
}

impl EntryId {
    /// The creation time in a version 7 id, if it is one: a charge has the time of its hold in the
    /// first half of its id.
    fn made_at(self) -> Option<Timestamp> {
        if self.0.get_version() != Some(Version::SortRand) {
            return None;
        }
        let timestamp = self.0.get_timestamp()?;
        let (seconds, nanos) = timestamp.to_unix();
        let ms = seconds.checked_mul(1000)?.checked_add(u64::from(nanos / 1_000_000))?;
        i64::try_from(ms).ok().map(Timestamp::from_ms)
    }
}
