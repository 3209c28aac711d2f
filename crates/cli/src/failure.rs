//! Errors of a command and their exit codes.

use std::process::ExitCode;

use config::fault::Invalid;
use control::operation::OperationError;
use control::socket::client::Unanswered;
use ledger::LedgerError;
use store::error::StoreError;

/// The reason why a command failed. The message says what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Failed(String),
    /// The arguments parsed but are invalid.
    #[error("{0}")]
    Usage(String),
    /// The service does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// The response was lost, so the outcome of the command is unknown.
    #[error("{0}; look at its state before you try again")]
    Lost(String),
    /// The error was already printed; only the exit code remains.
    #[error("")]
    Reported,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Failed(_) | Failure::Reported => ExitCode::from(1),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Unreachable(_) | Failure::Lost(_) => ExitCode::from(3),
        }
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Failure {
        let count = invalid.0.len();
        let noun = if count == 1 { "mistake" } else { "mistakes" };
        Failure::Failed(format!("the configuration has {count} {noun}:\n{invalid}"))
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        match error {
            OperationError::Unknown(message) => Failure::Lost(message),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<Unanswered> for Failure {
    fn from(error: Unanswered) -> Failure {
        match error {
            Unanswered::Operation(error) => error.into(),
            Unanswered::Broken(_) => Failure::Lost(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match error {
            StoreError::InUse { .. } => Failure::Unreachable(error.to_string()),
            other => Failure::Failed(other.to_string()),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}
