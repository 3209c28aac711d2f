//! The embedded store: one SQLite database, one process, one writing thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use moment::Timestamp;
use rusqlite::Connection;

use crate::backup::BackupSummary;
use crate::error::StoreError;
use crate::sql::{ReadMode, SqlConnection, SqlFuture, SqlStore, settings};
use crate::sqlite::charge_log::{ChargeLog, UnpostedFlag, crash_recovery, old_file};
use crate::sqlite::errors::to_store_error;
use crate::sqlite::lock::DatabaseLock;
use crate::sqlite::queue::SqliteQueue;
use crate::sqlite::readers::ReaderPool;
use crate::sqlite::session::begin_log_again;
use crate::sqlite::writer::{QUIET, SqliteWriter};
use crate::write::WriteGroup;
use crate::{CommitFuture, Store, StoreFuture};

mod accounts;
mod audit;
mod backup;
mod characters;
mod charge_log;
mod columns;
mod deletions;
mod errors;
mod evidence;
pub mod export;
pub mod import;
mod lock;
mod partial_backup;
mod posting;
mod queue;
mod readers;
mod recount;
pub mod restore;
pub mod schema;
mod session;
mod session_sums;
mod shared_sql;
mod sums;
mod usage_tail;
mod write_error;
mod writer;

pub use self::lock::{note_holder, read_lock_holder};

#[cfg(test)]
mod revert_migrations;
#[cfg(test)]
mod tests;

/// Size that the write-ahead log is truncated to after a checkpoint.
const LOG_BYTES_KEPT: i64 = 64 * 1024 * 1024;
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const WRITER_STATEMENTS_CACHED: usize = 64;

/// Settings for opening a database.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    pub path: PathBuf,
    pub durability: CommitDurability,
    /// Concurrent queries; further ones wait.
    pub readers: usize,
    /// Maximum size of the database, at which writes fail as on a full disk.
    pub bytes_max: u64,
}

impl SqliteOptions {
    /// Settings with which nothing acknowledged is lost, even if the process or the power fails.
    pub fn durable(path: impl Into<PathBuf>) -> SqliteOptions {
        SqliteOptions {
            path: path.into(),
            durability: CommitDurability::Full,
            readers: 4,
            bytes_max: 1 << 42,
        }
    }

    /// Settings for tests: quick to open, and safe only while the machine stays up.
    pub fn scratch(path: impl Into<PathBuf>) -> SqliteOptions {
        SqliteOptions {
            durability: CommitDurability::Off,
            readers: 2,
            ..SqliteOptions::durable(path)
        }
    }
}

/// The point at which a commit completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitDurability {
    /// Completes after the sync to disk.
    Full,
    /// Completes after the write to the operating system, without a sync.
    Off,
}

#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    queue: Arc<SqliteQueue>,
    pending: Arc<UnpostedFlag>,
    readers: Arc<ReaderPool>,
    writer: Option<JoinHandle<()>>,
    _lock: DatabaseLock,
}

impl SqliteStore {
    /// Opens or creates the database, migrates its schema, and posts the charges that a crash left
    /// in the charge log.
    pub fn open(options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(options, QUIET)
    }

    /// Logged charges are posted after `quiet` without new groups, or earlier if a query needs
    /// them.
    fn open_with(options: &SqliteOptions, quiet: Duration) -> Result<SqliteStore, StoreError> {
        let lock = DatabaseLock::take(&options.path)?;
        partial_backup::remove_left_over(&options.path)?;
        backup::activate_backup(&options.path)?;
        create_private(&options.path)?;
        let mut connection = open_writer(options).map_err(to_store_error)?;
        old_file::remove_posted_file(&connection, &options.path)?;
        schema::apply_migrations(&mut connection)?;
        crash_recovery::post_left_rows(&mut connection)?;
        begin_log_again(&connection)?;
        let readers = Arc::new(ReaderPool::open(&options.path, options.readers)?);
        let (queue, pending) =
            (Arc::new(SqliteQueue::default()), Arc::new(UnpostedFlag::default()));
        let log = ChargeLog::new(Arc::clone(&pending));
        let writer = SqliteWriter::new(connection, log, quiet);
        let taken = Arc::clone(&queue);
        let writer = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || writer::run_writer(writer, taken))
            .map_err(|error| StoreError::Failed(format!("cannot start the writer: {error}")))?;
        let path = options.path.clone();
        Ok(SqliteStore { path, queue, pending, readers, writer: Some(writer), _lock: lock })
    }

    fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        Box::pin(Arc::clone(&self.readers).run_query(query))
    }

    /// Runs a shared query, after acknowledged charges were posted if it reads their tables.
    fn query_shared<T: Send + 'static>(
        &self,
        has_charges: bool,
        query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (queue, pending) = (Arc::clone(&self.queue), Arc::clone(&self.pending));
        let readers = Arc::clone(&self.readers);
        Box::pin(async move {
            if has_charges && pending.is_any() {
                queue.push(WriteGroup::default()).await?;
            }
            readers.run_shared(query).await
        })
    }
}

/// Waits until all groups that were handed in are written, and then releases the lock.
impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.queue.close();
        let Some(writer) = self.writer.take() else { return };
        if writer.join().is_err() {
            tracing::error!("the writer of the database ended with a panic");
        }
    }
}

impl Store for SqliteStore {
    fn commit(&self, group: WriteGroup) -> CommitFuture {
        Box::pin(self.queue.push(group))
    }

    fn queued_groups(&self) -> usize {
        self.queue.len()
    }

    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackupSummary> {
        let (from, to) = (self.path.clone(), to.to_owned());
        Box::pin(async move {
            // Posts the charge log: an empty group is written after it.
            self.queue.push(WriteGroup::default()).await?;
            let written =
                tokio::task::spawn_blocking(move || backup::write_backup(&from, &to, at)).await;
            written.map_err(|error| StoreError::Failed(error.to_string()))?
        })
    }

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let name = name.to_owned();
        self.read(ReadMode::LOOKUP, move |db| {
            Box::pin(async move { settings::read_setting(db, &name).await })
        })
    }
}

/// Creates the file so that only the user who runs the service may read balances and key digests.
/// SQLite gives the files next to it the same permissions.
fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| {
        StoreError::Failed(format!("cannot open the database {}: {error}", path.display()))
    })
}

fn open_writer(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let connection = Connection::open(&options.path)?;
    let synchronous = match options.durability {
        CommitDurability::Full => "FULL",
        CommitDurability::Off => "OFF",
    };
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A deleted key is overwritten, where that costs no further page.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    let page_bytes: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages_max = (options.bytes_max / page_bytes).clamp(1, u64::from(u32::MAX - 1));
    connection.pragma_update(None, "max_page_count", pages_max)?;
    connection.set_prepared_statement_cache_capacity(WRITER_STATEMENTS_CACHED);
    Ok(connection)
}

/// The path of the database in a data directory.
pub fn database_in(data_dir: &Path) -> PathBuf {
    data_dir.join("tollgate.db")
}
