//! How a command ends: done, or one of three kinds of failure with its exit code.

use std::process::ExitCode;

use config::fault::Invalid;
use control::operation::OperationError;
use control::socket::client::Unanswered;
use ledger::LedgerError;
use store::error::StoreError;

/// Why a command did not do what it was asked. The message says what, why and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Failed(String),
    /// The words of the command line were right but their meaning is not.
    #[error("{0}")]
    Usage(String),
    /// A service that should answer does not.
    #[error("{0}")]
    Unreachable(String),
    /// The answer was lost, so that it is not known whether the command was carried out.
    #[error("{0}; look at its state before you try again")]
    Lost(String),
    /// Everything was said already; only the exit code remains.
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
