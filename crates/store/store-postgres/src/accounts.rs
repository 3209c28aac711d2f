//! The ids of accounts, derived from owner, currency and name.
//!
//! So a transfer can be written without looking up a number first, and two nodes that open the same
//! lot write the same row.

use ledger_core::{LedgerAccount, LotKey, SystemAccount};
use store::account_id;
use uuid::Uuid;

/// The id of an account. Each node has its own system accounts.
pub(crate) fn account_id(account: &LedgerAccount, node: Uuid) -> Uuid {
    match account {
        LedgerAccount::Lot(lot) => lot_id(lot),
        LedgerAccount::System(system) => {
            account_id::system_account_id(node, system.currency.name(), &system_name(system))
        }
    }
}

pub(crate) fn lot_id(lot: &LotKey) -> Uuid {
    account_id::lot_account_id(lot.owner.0, lot.currency.name(), &lot.tag.to_string())
}

/// The name of a system account within its currency.
pub(crate) fn system_name(system: &SystemAccount) -> String {
    system.kind.to_string()
}

#[cfg(test)]
mod tests {
    use ledger_core::{LotTag, OwnerId, SystemKind};
    use money::BalanceCurrency;

    use super::*;

    #[test]
    fn the_id_of_an_account_never_changes() {
        let owner = OwnerId(Uuid::from_u128(1));
        let lot = LotKey { owner, currency: BalanceCurrency::Usd, tag: LotTag::Main };
        assert_eq!(lot_id(&lot), lot_id(&lot));
        let other = LotKey { tag: LotTag::Day(1), ..lot };
        assert_ne!(lot_id(&lot), lot_id(&other));
        let revenue = LedgerAccount::System(SystemAccount {
            currency: BalanceCurrency::Usd,
            kind: SystemKind::Revenue,
        });
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_ne!(account_id(&revenue, one), account_id(&revenue, two));
        assert_eq!(
            account_id(&LedgerAccount::Lot(lot), one),
            account_id(&LedgerAccount::Lot(lot), two)
        );
    }
}
