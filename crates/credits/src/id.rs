//! Names of owners, keys, holds and entries, and the ids that follow from others.

use uuid::Uuid;

use crate::allowance::AllowanceKind;

/// Who a purse belongs to: an account or a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub Uuid);

/// An API key, which can have limits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub Uuid);

/// Money set aside for one piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldId(pub Uuid);

/// One command that moved money. All its transfers carry this id, told apart by their leg, so the
/// same entry can be in the journal only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub Uuid);

/// Flips bits of the random half of an id only, so that a refund sorts beside its charge.
const REFUND_BITS: u128 = 0x0000_0000_0000_0000_2e5f_04d1_7e6b_93c5;

/// An odd number with its bits well spread, from the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

impl EntryId {
    /// The one id that a refund of this charge can have, so that a second refund is the same entry.
    pub fn refund(self) -> EntryId {
        EntryId(Uuid::from_u128(self.0.as_u128() ^ REFUND_BITS))
    }

    /// The charge that this refund gives back.
    pub fn refunded_charge(self) -> EntryId {
        self.refund()
    }

    /// The one id of the grant that opens an owner's allowance for a period.
    pub fn allowance(owner: OwnerId, kind: AllowanceKind, period: i64) -> EntryId {
        let kind: u128 = match kind {
            AllowanceKind::DiemDaily => 1,
            AllowanceKind::BundledMonthly => 2,
        };
        let period = u128::from(period.cast_unsigned());
        // The owner is mixed alone first: neighbouring owners in neighbouring periods would
        // otherwise cancel each other out.
        let bits = mixed(mixed(owner.0.as_u128()) ^ (kind << 64 | period));
        EntryId(Uuid::from_u128(bits))
    }
}

/// A reversible mix: different inputs never give the same output.
fn mixed(mut bits: u128) -> u128 {
    for _ in 0..2 {
        bits = bits.wrapping_mul(SPREAD);
        bits ^= bits >> 64;
    }
    bits
}
