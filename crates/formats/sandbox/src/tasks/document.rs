//! Extracts the text of one document.

use std::time::Duration;

use documents::DocumentBudget;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::ReaderTask;
use crate::TaskBounds;

/// The document is in the bytes. Each document is a separate task with its own CPU limit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DocumentTask {
    /// Shared by the documents of one request.
    pub budget: DocumentBudget,
}

/// The text is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DocumentOutcome {
    /// The error, as a sentence for the caller.
    fault: Option<String>,
    /// The rest for the next document of the same request.
    pub budget: DocumentBudget,
    /// CPU time of the task.
    pub cpu: Duration,
}

impl ReaderTask for DocumentTask {
    type Outcome = DocumentOutcome;

    const BOUNDS: TaskBounds = TaskBounds {
        // Unpacked data, the input, and the structures built from both.
        memory_bytes: 512 * 1024 * 1024,
        cpu_s: 2,
        time: Duration::from_secs(20),
        answer_bytes: 16 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (DocumentOutcome, Vec<u8>) {
        let DocumentTask { mut budget } = self;
        let before = cpu_used();
        let read = documents::read_document(bytes, &mut budget);
        let cpu = cpu_used().saturating_sub(before);
        match read {
            Ok(text) => (DocumentOutcome { fault: None, budget, cpu }, text.into_bytes()),
            Err(fault) => {
                (DocumentOutcome { fault: Some(fault.to_string()), budget, cpu }, Vec::new())
            }
        }
    }
}

/// CPU time of this thread.
fn cpu_used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

impl DocumentOutcome {
    /// Combines the outcome with its bytes.
    pub fn combine_with(self, text: &[u8]) -> Result<String, String> {
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
        let (outcome, bytes) = DocumentTask::default().perform(b"first");
        let left = outcome.budget;
        assert_eq!(outcome.combine_with(&bytes).as_deref(), Ok("first"));
        let (outcome, bytes) = DocumentTask { budget: left }.perform(b"\xff\xfe");
        assert!(outcome.combine_with(&bytes).is_err());
    }
}
