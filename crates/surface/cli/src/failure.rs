//! Errors of a command and their exit codes.

use std::process::ExitCode;

use config::fault::InvalidConfig;
use control::operation::OperationError;
use control::socket::client::SocketError;
use ledger::LedgerError;
use store::error::StoreError;

/// The reason why a command failed. The message says what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{0}")]
    Failed(String),
    /// The arguments parsed but are invalid.
    #[error("{0}")]
    Usage(String),
    /// The service does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// The response was lost, so the outcome of the command is unknown.
    #[error("{0}; check its state before you try again")]
    Lost(String),
    /// The error was already printed; only the exit code remains.
    #[error("")]
    Reported,
}

impl CommandError {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Failed(_) | CommandError::Reported => ExitCode::from(1),
            CommandError::Usage(_) => ExitCode::from(2),
            CommandError::Unreachable(_) | CommandError::Lost(_) => ExitCode::from(3),
        }
    }
}

impl From<InvalidConfig> for CommandError {
    fn from(invalid: InvalidConfig) -> CommandError {
        let count = invalid.0.len();
        let noun = if count == 1 { "mistake" } else { "mistakes" };
        CommandError::Failed(format!("the configuration has {count} {noun}:\n{invalid}"))
    }
}

impl From<OperationError> for CommandError {
    fn from(error: OperationError) -> CommandError {
        match error {
            OperationError::Unknown(message) => CommandError::Lost(message),
            other => CommandError::Failed(other.to_string()),
        }
    }
}

impl From<SocketError> for CommandError {
    fn from(error: SocketError) -> CommandError {
        match error {
            SocketError::Operation(error) => error.into(),
            SocketError::Broken(_) => CommandError::Lost(error.to_string()),
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        match error {
            StoreError::InUse { .. } => CommandError::Unreachable(error.to_string()),
            other => CommandError::Failed(other.to_string()),
        }
    }
}

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> CommandError {
        CommandError::Failed(error.to_string())
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> CommandError {
        CommandError::Failed(error.to_string())
    }
}
