//! Checks that a node serves the chain that it is configured for.
//!
//! The server behind an address can change, so the node's chain is checked at first and then once a
//! minute, before anything is sent to it or trusted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::settler::SettleFailure;

/// Time for which a check is valid.
const CHECK_LIFETIME: Duration = Duration::from_secs(60);

/// The chain that a node should serve, and when that was last confirmed.
#[derive(Debug)]
pub(crate) struct ChainIdentity {
    /// Its name for operators, such as `chain 8453`.
    expected: String,
    /// A `std::sync::Mutex`: held briefly and never across an await.
    confirmed: Mutex<Option<Instant>>,
}

impl ChainIdentity {
    pub(crate) fn new(expected: String) -> ChainIdentity {
        ChainIdentity { expected, confirmed: Mutex::default() }
    }

    /// True if the node has to be checked.
    pub(crate) fn is_due(&self) -> bool {
        let confirmed = *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        confirmed.is_none_or(|at| CHECK_LIFETIME <= at.elapsed())
    }

    /// Records the result of a check. An error, which is logged, if the node serves another chain.
    pub(crate) fn record_check(&self, served: &str, is_right: bool) -> Result<(), SettleFailure> {
        let mut confirmed = self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        if is_right {
            *confirmed = Some(Instant::now());
            return Ok(());
        }
        *confirmed = None;
        let expected = &self.expected;
        metrics::counter!("settle_wrong_chain").increment(1);
        tracing::error!(
            served,
            expected,
            "a node serves {served} and not {expected}: it is no longer used"
        );
        Err(SettleFailure::WrongChain { served: served.to_owned(), expected: expected.clone() })
    }
}
