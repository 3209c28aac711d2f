//! Classifies errors of Postgres: a bad group, a collision, a full disk, or a lost connection.

use std::error::Error as _;

use store::error::StoreError;
use tokio_postgres::error::{DbError, SqlState};

/// The reason why a statement failed.
#[derive(Debug)]
pub(crate) enum PgError {
    /// The connection is lost, or cannot be opened: the outcome of the statement is unknown.
    Lost(String),
    /// The transaction conflicted with another one. It was rolled back, and can be retried.
    Collided(String),
    /// An earlier statement of the transaction failed.
    Aborted,
    /// A batch with this number was committed before.
    BatchDone,
    Refused(StoreError),
}

impl From<StoreError> for PgError {
    fn from(error: StoreError) -> PgError {
        PgError::Refused(error)
    }
}

impl From<tokio_postgres::Error> for PgError {
    fn from(error: tokio_postgres::Error) -> PgError {
        if let Some(said) = error.as_db_error() {
            return by_code(said);
        }
        let is_io = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
        if error.is_closed() || is_io {
            return PgError::Lost(with_cause(&error));
        }
        PgError::Refused(StoreError::Failed(with_cause(&error)))
    }
}

/// Converts the error for callers.
impl From<PgError> for StoreError {
    fn from(error: PgError) -> StoreError {
        match error {
            PgError::Refused(error) => error,
            PgError::Lost(cause) => {
                StoreError::Failed(format!("the connection to the database is lost: {cause}"))
            }
            PgError::Collided(cause) => StoreError::Failed(cause),
            PgError::Aborted => StoreError::Failed("the transaction was undone".to_owned()),
            PgError::BatchDone => StoreError::Failed("the batch was committed before".to_owned()),
        }
    }
}

/// Converts an error of connecting; whatever its kind, there is no connection.
pub(crate) fn not_connected(error: &tokio_postgres::Error) -> PgError {
    PgError::Lost(with_cause(error))
}

fn by_code(said: &DbError) -> PgError {
    let code = said.code();
    let text = || said.message().to_owned();
    let is_lost = code.code().starts_with("08")
        || [
            // Session terminated; server shutting down, starting or a standby.
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(code)
        || code.code() == "57P05";
    if is_lost {
        return PgError::Lost(text());
    }
    let collisions = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        // The statement timed out.
        SqlState::QUERY_CANCELED,
    ];
    if collisions.contains(code) {
        return PgError::Collided(text());
    }
    match *code {
        SqlState::IN_FAILED_SQL_TRANSACTION => PgError::Aborted,
        SqlState::UNIQUE_VIOLATION if said.constraint() == Some("batch_pkey") => PgError::BatchDone,
        _ => PgError::Refused(to_store_error(said)),
    }
}

fn to_store_error(said: &DbError) -> StoreError {
    // The detail contains the values of the row, which may be secrets; the message does not.
    let text = said.message().to_owned();
    let class = said.code().code().get(..2).unwrap_or_default();
    match *said.code() {
        SqlState::UNIQUE_VIOLATION => StoreError::Duplicate(text),
        SqlState::FOREIGN_KEY_VIOLATION if names_an_account(said) => {
            StoreError::Missing("the lot was never opened")
        }
        SqlState::DISK_FULL => StoreError::Full,
        // A constraint, or a value that its column cannot hold.
        _ if ["22", "23"].contains(&class) => StoreError::Refused(text),
        _ => StoreError::Failed(text),
    }
}

fn names_an_account(said: &DbError) -> bool {
    let accounts = ["transfer_debit_fkey", "transfer_credit_fkey", "job_hold_leg_account_fkey"];
    said.constraint().is_some_and(|constraint| accounts.contains(&constraint))
}

/// The message of the client library's error and of its cause, which has the details.
fn with_cause(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
