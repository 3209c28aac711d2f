//! The connection that writes. When a call returns, its transaction is either durable or rolled
//! back.

use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::errors::{is_fatal, to_store_error};
use crate::sqlite::posting::SqliteCaches;
use crate::sqlite::writer::WriteError;

/// Pages in the write-ahead log (8 MiB) after which it is checkpointed into the database file and
/// restarted. From then on the log does not grow, so a commit changes only data.
const CHECKPOINT_PAGES: usize = 2048;

/// Estimated pages of a posting: a fixed number, and one for each `ROWS_A_PAGE` rows.
const PAGES_A_POSTING: usize = 8;
const ROWS_A_PAGE: usize = 5;

pub(crate) struct WriteSession {
    connection: Connection,
    memory: SqliteCaches,
    is_looking: bool,
    pages_ahead: usize,
}

impl WriteSession {
    pub(crate) fn new(connection: Connection) -> WriteSession {
        WriteSession {
            connection,
            memory: SqliteCaches::default(),
            is_looking: false,
            pages_ahead: 0,
        }
    }

    /// Runs a query in a read transaction, which stays open until the next write: only this thread
    /// writes, and beginning and ending one is most of the cost of a small query.
    pub(crate) fn run_query<T>(
        &mut self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        if !self.is_looking {
            run_cached(&self.connection, "BEGIN").map_err(|error| stop_or_refuse(error.into()))?;
            self.is_looking = true;
        }
        query(&self.connection).map_err(|error| {
            self.roll_back();
            stop_or_refuse(error.into())
        })
    }

    /// Runs one transaction: committed and durable if this returns `Ok`, rolled back otherwise.
    pub(crate) fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut SqliteCaches) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        self.roll_back();
        let worked = run_cached(&self.connection, "BEGIN IMMEDIATE")
            .map_err(WriteError::Sqlite)
            .and_then(|()| work(&self.connection, &mut self.memory))
            .and_then(|value| Ok(run_cached(&self.connection, "COMMIT").map(|()| value)?));
        worked.map_err(|error| {
            self.memory.forget();
            self.roll_back();
            stop_or_refuse(error)
        })
    }

    /// Counts rows towards the next checkpoint.
    pub(crate) fn count_posted_rows(&mut self, rows: usize) {
        self.pages_ahead += PAGES_A_POSTING + rows / ROWS_A_PAGE;
    }

    /// Checkpoints if the write-ahead log is long. For idle times.
    pub(crate) fn checkpoint_if_long(&mut self) {
        if CHECKPOINT_PAGES <= self.pages_ahead {
            self.checkpoint();
        }
    }

    /// Moves the write-ahead log into the database file. SQLite would do this by itself, but would
    /// not report a failed fsync.
    pub(crate) fn checkpoint(&mut self) {
        self.roll_back();
        self.pages_ahead = 0;
        let Err(error) = self.connection.pragma_query(None, "wal_checkpoint", |_| Ok(())) else {
            return;
        };
        if is_fatal(&error) {
            abort_process(&error);
        }
        tracing::warn!(%error, "the write-ahead log stays beside the database: {error}");
    }

    /// Ends the open transaction, including a read transaction.
    fn roll_back(&mut self) {
        self.is_looking = false;
        // SQLite rolls back by itself after some errors.
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = run_cached(&self.connection, "ROLLBACK") {
            abort_process(&error);
        }
    }
}

/// Makes the next commit overwrite the write-ahead log of an earlier run, which would grow
/// otherwise. Call it before there are readers: it waits for them.
pub(crate) fn begin_log_again(connection: &Connection) -> Result<(), StoreError> {
    let begun = connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
    match begun {
        Err(error) if is_fatal(&error) => Err(to_store_error(error)),
        Err(error) => {
            tracing::warn!(%error, "the write-ahead log stays as it was found: {error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

pub(crate) fn run_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

pub(crate) fn stop_or_refuse(error: WriteError) -> StoreError {
    match error {
        WriteError::Refused(error) => error,
        WriteError::Unpostable(error) => stop_unposted(&error),
        WriteError::Sqlite(error) | WriteError::Meanwhile(error) => {
            if is_fatal(&error) {
                abort_process(&error);
            }
            to_store_error(error)
        }
    }
}

/// Ends the process at once: continuing could acknowledge writes that are not on disk.
fn abort_process(error: &rusqlite::Error) -> ! {
    tracing::error!(%error, "the database cannot be written safely; stopping: {error}");
    std::process::abort();
}

/// Ends the process because the tables refuse charges that were acknowledged. They stay in the log,
/// which keeps all the evidence.
fn stop_unposted(error: &StoreError) -> ! {
    tracing::error!(
        %error,
        "charges in the charge log were acknowledged and cannot be posted; stopping: {error}"
    );
    std::process::abort();
}
