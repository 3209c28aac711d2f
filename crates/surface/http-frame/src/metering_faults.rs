//! Counts token reports of providers that could not be billed unchanged.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Providers tracked; an operator has far fewer.
const PROVIDERS_MAX: usize = 1000;

/// The reason why a provider's report was not billed unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeteringFault {
    /// More tokens than were requested and delivered, or than the model's context.
    BeyondBound,
    /// Zero tokens for text that was delivered.
    ZeroReported,
}

/// Counts since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    pub beyond_bound: u64,
    pub zero_reported: u64,
}

/// Counts by provider, for the operator.
#[derive(Debug, Default)]
pub struct MeteringFaults {
    counts: Mutex<BTreeMap<String, FaultCounts>>,
}

impl MeteringFault {
    fn name(self) -> &'static str {
        match self {
            MeteringFault::BeyondBound => "beyond_bound",
            MeteringFault::ZeroReported => "zero_reported",
        }
    }
}

impl MeteringFaults {
    pub(crate) fn record_fault(&self, provider: &str, fault: MeteringFault) {
        let (name, owned) = (fault.name(), provider.to_owned());
        metrics::counter!("metering_faults_total", "provider" => owned, "fault" => name)
            .increment(1);
        let mut counts = self.lock();
        if PROVIDERS_MAX <= counts.len() && !counts.contains_key(provider) {
            return;
        }
        let counts = counts.entry(provider.to_owned()).or_default();
        match fault {
            MeteringFault::BeyondBound => counts.beyond_bound += 1,
            MeteringFault::ZeroReported => counts.zero_reported += 1,
        }
    }

    /// The counts of a provider; None if it had no fault.
    pub fn of_provider(&self, provider: &str) -> Option<FaultCounts> {
        self.lock().get(provider).copied()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, FaultCounts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
