//! Rate limits: tiers, one-minute windows, and the block after too many failures.

pub mod failures;
pub mod shares;
pub mod tiers;
pub mod window;
