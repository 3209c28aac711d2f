//! Checks that a node serves the chain that it is configured for.
//!
//! What an address leads to can change, so the node is asked for its chain at first and then once a
//! minute, before anything is sent to it or believed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::settler::Setback;

/// How long a node's word about its chain is believed.
const BELIEVED: Duration = Duration::from_secs(60);

/// The chain that a node should serve.
#[derive(Debug)]
pub(crate) struct Identity {
    /// As operators know it, such as `chain 8453`.
    expected: String,
    /// A `std::sync::Mutex`: it is held for a moment and never across an await.
    confirmed: Mutex<Option<Instant>>,
}

impl Identity {
    pub(crate) fn new(expected: String) -> Identity {
        Identity { expected, confirmed: Mutex::default() }
    }

    /// Whether the node has to be asked.
    pub(crate) fn is_due(&self) -> bool {
        let confirmed = *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        confirmed.is_none_or(|at| BELIEVED <= at.elapsed())
    }

    /// Notes what a node says that it serves. Nothing is done with one that serves another chain.
    pub(crate) fn judge(&self, served: &str, is_right: bool) -> Result<(), Setback> {
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
            "a node serves {served} and not {expected}: nothing is sent or credited by it"
        );
        Err(Setback::WrongChain { served: served.to_owned(), expected: expected.clone() })
    }
}
