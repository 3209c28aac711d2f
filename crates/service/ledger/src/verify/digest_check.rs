//! Compares usage rows with the digests that were written with them.

use ledger_core::{InvariantViolation, LedgerInvariant};
use store::evidence::UsageMark;
use store::usage_digest::DigestCheck;

/// The violation of a row whose fields do not give its digest.
pub(super) fn find_change(mark: &UsageMark) -> Option<InvariantViolation> {
    (mark.digest == DigestCheck::Differing).then(|| {
        let words = format!(
            "row {} of usage, charge {}: its request id or another field was changed after it was \
             written",
            mark.seq, mark.charge.0
        );
        LedgerInvariant::Bill.violation(words)
    })
}
