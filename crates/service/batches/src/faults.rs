//! Faults of an input file, each with its line.

use serde::{Deserialize, Serialize};

/// Faults listed at most. The rest of the file is not read.
pub(crate) const FAULTS_MAX: usize = 100;

/// A fault of a file, as batches show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchFault {
    pub code: String,
    pub line: Option<u32>,
    pub message: String,
    /// The field of the line.
    pub param: Option<String>,
}

impl BatchFault {
    pub(crate) fn of_line(
        line: u32,
        code: &str,
        param: Option<&str>,
        message: impl Into<String>,
    ) -> BatchFault {
        BatchFault {
            code: code.to_owned(),
            line: Some(line),
            message: message.into(),
            param: param.map(str::to_owned),
        }
    }

    pub(crate) fn of_file(code: &str, message: impl Into<String>) -> BatchFault {
        BatchFault { code: code.to_owned(), line: None, message: message.into(), param: None }
    }

    /// The faults as a batch stores them.
    pub(crate) fn write_list(faults: &[BatchFault]) -> String {
        serde_json::to_string(faults).unwrap_or_default()
    }

    pub fn read_list(text: &str) -> Vec<BatchFault> {
        serde_json::from_str(text).unwrap_or_default()
    }
}
