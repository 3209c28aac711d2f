//! Terms of a call that differ from those of a request that has just arrived.

use std::sync::Arc;

use crate::batch_line::BatchLineTerms;
use crate::paid_work::call_funds::{CallFunds, ChargedCell};

/// The terms of a call. The default is a request that has just arrived.
#[derive(Debug, Clone, Default)]
pub struct CallTerms {
    /// True for a call that was counted against the limits per minute when it was stored, or that is
    /// exempt from them. Its failures do not count towards a block, and the conditions of
    /// [`RequiredCredential::check_before_handler`](crate::caller::RequiredCredential) do not apply.
    pub is_counted: bool,
    pub funds: CallFunds,
    pub charged: ChargedCell,
    /// Set for a line of a batch.
    pub batch_line: Option<Arc<BatchLineTerms>>,
}
