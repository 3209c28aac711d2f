//! Ids of owners, keys, holds and entries, and the ids that are derived from others.

use uuid::Uuid;

use crate::allowance::AllowanceKind;

/// The owner of balances: an account or a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub Uuid);

/// An API key, which can have limits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub Uuid);

/// A hold of money for one piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldId(pub Uuid);

/// One command that moved money. All its transfers carry this id and differ by their leg, so the
/// same entry can be in the journal only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub Uuid);

/// XOR mask on the random half of an id, so that a refund sorts next to its charge.
const REFUND_BITS: u128 = 0x0000_0000_0000_0000_2e5f_04d1_7e6b_93c5;

/// An odd multiplier with well-spread bits, from the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

impl EntryId {
    /// The only id that a refund of this charge can have, so that a second refund is the same
    /// entry.
    pub fn refund_entry(self) -> EntryId {
        EntryId(Uuid::from_u128(self.0.as_u128() ^ REFUND_BITS))
    }

    /// The charge that this refund entry refunds.
    pub fn refunded_charge(self) -> EntryId {
        self.refund_entry()
    }

    /// The only id of the entry that opens an owner's allowance for a period.
    pub fn for_allowance(owner: OwnerId, kind: AllowanceKind, period: i64) -> EntryId {
        let kind: u128 = match kind {
            AllowanceKind::DiemDaily => 1,
            AllowanceKind::BundledMonthly => 2,
        };
        let period = u128::from(period.cast_unsigned());
        // The owner is mixed on its own first: otherwise neighbouring owners in neighbouring
        // periods could cancel each other out.
        let bits = mix_bits(mix_bits(owner.0.as_u128()) ^ (kind << 64 | period));
        EntryId(Uuid::from_u128(bits))
    }
}

/// A reversible mix: different inputs never give the same output.
fn mix_bits(mut bits: u128) -> u128 {
    for _ in 0..2 {
        bits = bits.wrapping_mul(SPREAD);
        bits ^= bits >> 64;
    }
    bits
}
