//! The connection that writes. When a call returns, its transaction is either durable or rolled
//! back.

use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::errors::{is_fatal, to_store_error};
use crate::sqlite::posting::SqliteCaches;
use crate::sqlite::write_error::WriteError;

/// Pages in the write-ahead log (8 MiB) after which it is checkpointed into the database file and
/// restarted. From then on the log does not grow, so a commit changes only data.
const CHECKPOINT_PAGES: usize = 2048;

const PAGE_BYTES: usize = 4096;

/// Estimated pages that a row of the charge log changes, besides those that it fills.
const PAGES_A_LOGGED_ROW: usize = 2;

/// Estimated pages of a posting: a fixed number, and one for each `ROWS_A_PAGE` rows.
const PAGES_A_POSTING: usize = 8;
const ROWS_A_PAGE: usize = 5;

pub(crate) struct WriteSession {
    connection: Connection,
    memory: SqliteCaches,
    pages_ahead: usize,
}

impl WriteSession {
    pub(crate) fn new(connection: Connection) -> WriteSession {
        WriteSession { connection, memory: SqliteCaches::default(), pages_ahead: 0 }
    }

    /// Runs one transaction: committed and durable if this returns `Ok`, rolled back otherwise.
    pub(crate) fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut SqliteCaches) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
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

    /// Counts a row of the charge log towards the next checkpoint.
    pub(crate) fn count_logged_row(&mut self, bytes: usize) {
        self.pages_ahead += PAGES_A_LOGGED_ROW + bytes / PAGE_BYTES;
    }

    /// Counts rows of all other tables.
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
        self.pages_ahead = 0;
        let Err(error) = self.connection.pragma_query(None, "wal_checkpoint", |_| Ok(())) else {
            return;
        };
        if is_fatal(&error) {
            abort_process(&error);
        }
        tracing::warn!(%error, "the write-ahead log stays beside the database: {error}");
    }

    fn roll_back(&self) {
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
        WriteError::Sqlite(error) => {
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
