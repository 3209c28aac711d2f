//! Freezes an account for disputes and early fraud warnings.

use crate::facts::PaymentFacts;
use crate::objects::DisputeStatus;
use crate::stripe_id::StripeId;

/// The row of a cause for which an account was frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreezeRow {
    /// The dispute or the warning.
    pub cause: StripeId,
    pub state: FreezeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FreezeState {
    Active,
    /// The dispute was won. It freezes again if it is opened again.
    EndedByWin,
    /// The operator has ended it, which stays.
    EndedByOperator,
}

/// An account is frozen as long as a row is active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreezeStep {
    Freeze(StripeId),
    EndByWin(StripeId),
}

/// The steps that follow from the facts of a payment. An inquiry freezes nothing; a dispute does from
/// its opening until it is won, and also when it is lost.
pub fn decide_freezes(rows: &[FreezeRow], facts: &PaymentFacts) -> Vec<FreezeStep> {
    let disputes = facts.disputes.iter().filter_map(|dispute| match dispute.status {
        DisputeStatus::Inquiry => None,
        DisputeStatus::Won => Some((&dispute.id, false)),
        DisputeStatus::Open | DisputeStatus::Lost => Some((&dispute.id, true)),
    });
    let warnings = facts.warnings.iter().map(|warning| (&warning.id, true));
    let steps = disputes.chain(warnings).filter_map(|(cause, is_grave)| {
        let row = rows.iter().find(|row| row.cause == *cause).map(|row| row.state);
        match (row, is_grave) {
            (None | Some(FreezeState::EndedByWin), true) => Some(FreezeStep::Freeze(cause.clone())),
            (Some(FreezeState::Active), false) => Some(FreezeStep::EndByWin(cause.clone())),
            _ => None,
        }
    });
    steps.collect()
}
