//! Extracts the text of one document.

use std::time::Duration;

use documents::Budget;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::Bounds;

/// The document is in the bytes. Each document is a separate task with its own CPU limit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Request {
    /// Shared by the documents of one request.
    pub budget: Budget,
}

/// The text is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// The error, as a sentence for the caller.
    fault: Option<String>,
    /// The rest for the next document of the same request.
    pub budget: Budget,
    /// CPU time of the task.
    pub cpu: Duration,
}

impl Task for Request {
    type Outcome = Outcome;

    const BOUNDS: Bounds = Bounds {
        // Unpacked data, the input, and the structures built from both.
        memory_bytes: 512 * 1024 * 1024,
        cpu_s: 2,
        time: Duration::from_secs(20),
        answer_bytes: 16 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (Outcome, Vec<u8>) {
        let Request { mut budget } = self;
        let before = cpu_used();
        let read = documents::read(bytes, &mut budget);
        let cpu = cpu_used().saturating_sub(before);
        match read {
            Ok(text) => (Outcome { fault: None, budget, cpu }, text.into_bytes()),
            Err(fault) => (Outcome { fault: Some(fault.to_string()), budget, cpu }, Vec::new()),
        }
    }
}

/// CPU time of this thread.
fn cpu_used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

impl Outcome {
    /// Combines the outcome with its bytes.
    pub fn with(self, text: &[u8]) -> Result<String, String> {
        match self.fault {
            None => Ok(String::from_utf8_lossy(text).into_owned()),
            Some(fault) => Err(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_text_or_its_fault_and_the_budget_is_handed_on() {
        let (outcome, bytes) = Request::default().perform(b"first");
        let left = outcome.budget;
        assert_eq!(outcome.with(&bytes).as_deref(), Ok("first"));
        let (outcome, bytes) = Request { budget: left }.perform(b"\xff\xfe");
        assert!(outcome.with(&bytes).is_err());
    }
}
