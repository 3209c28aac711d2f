//! The embedded store: one SQLite database, one process, one writing thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use moment::Timestamp;
use rusqlite::Connection;

use crate::backup::BackedUp;
use crate::error::StoreError;
use crate::sqlite::charge_log::left_over::open_posted;
use crate::sqlite::charge_log::{ChargeLog, Pending};
use crate::sqlite::errors::refusal;
use crate::sqlite::lock::Lock;
use crate::sqlite::queue::Queue;
use crate::sqlite::readers::Readers;
use crate::sqlite::session::begin_log_again;
use crate::sqlite::writer::{QUIET, Writer};
use crate::write::Group;
use crate::{Commit, Store, StoreFuture};

mod accounts;
mod audit;
mod backup;
mod characters;
mod charge_log;
mod claims;
mod columns;
mod errors;
mod evidence;
pub mod export;
pub mod import;
mod jobs;
mod journal;
mod load;
mod lock;
mod media;
mod owners;
mod partial_backup;
mod posting;
mod queries;
mod queue;
mod readers;
mod recount;
mod request_search;
pub mod restore;
mod rpc;
pub mod schema;
mod session;
mod statement;
mod sums;
mod usage;
mod usage_tail;
mod wallets;
mod writer;

pub use self::lock::{holder, note_holder};

#[cfg(test)]
mod earlier;
#[cfg(test)]
mod tests;

/// Size that the write-ahead log is truncated to after a checkpoint.
const LOG_BYTES_KEPT: i64 = 64 * 1024 * 1024;
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const WRITER_STATEMENTS_CACHED: usize = 64;

/// Settings for opening a database.
#[derive(Debug, Clone)]
pub struct Options {
    pub path: PathBuf,
    pub durability: Durability,
    /// Concurrent queries; further ones wait.
    pub readers: usize,
    /// Maximum size of the database, at which writes fail as on a full disk.
    pub bytes_max: u64,
}

impl Options {
    /// Settings with which nothing acknowledged is lost, even if the process or the power fails.
    pub fn durable(path: impl Into<PathBuf>) -> Options {
        Options { path: path.into(), durability: Durability::Full, readers: 4, bytes_max: 1 << 42 }
    }

    /// Settings for tests: quick to open, and safe only while the machine stays up.
    pub fn scratch(path: impl Into<PathBuf>) -> Options {
        Options { durability: Durability::Off, readers: 2, ..Options::durable(path) }
    }
}

/// The point at which a commit completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Completes after the sync to disk.
    Full,
    /// Completes after the write to the operating system, without a sync.
    Off,
}

#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    queue: Arc<Queue>,
    pending: Arc<Pending>,
    readers: Arc<Readers>,
    writer: Option<JoinHandle<()>>,
    _lock: Lock,
}

impl Sqlite {
    /// Opens or creates the database, migrates its schema, and posts the charges that a crash left
    /// in the charge log.
    pub fn open(options: &Options) -> Result<Sqlite, StoreError> {
        Sqlite::open_with(options, QUIET)
    }

    /// Logged charges are posted after `quiet` without new groups, or earlier if a query needs
    /// them.
    fn open_with(options: &Options, quiet: Duration) -> Result<Sqlite, StoreError> {
        let lock = Lock::take(&options.path)?;
        partial_backup::remove_left_over(&options.path)?;
        backup::admit(&options.path)?;
        create_private(&options.path)?;
        let mut connection = open_writer(options).map_err(refusal)?;
        schema::migrate(&mut connection)?;
        let file = open_posted(&mut connection, options)?;
        begin_log_again(&connection)?;
        let readers = Arc::new(Readers::open(&options.path, options.readers)?);
        let (queue, pending) = (Arc::new(Queue::default()), Arc::new(Pending::default()));
        let log = ChargeLog::new(file, Arc::clone(&pending));
        let writer = Writer::new(connection, log, quiet);
        let taken = Arc::clone(&queue);
        let writer = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || writer::run(writer, taken))
            .map_err(|error| StoreError::Failed(format!("cannot start the writer: {error}")))?;
        let path = options.path.clone();
        Ok(Sqlite { path, queue, pending, readers, writer: Some(writer), _lock: lock })
    }

    fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        Box::pin(Arc::clone(&self.readers).ask(query))
    }

    /// Runs a query on tables that charges change: acknowledged charges are posted first.
    fn ask_posted<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (queue, pending) = (Arc::clone(&self.queue), Arc::clone(&self.pending));
        let readers = Arc::clone(&self.readers);
        Box::pin(async move {
            if pending.is_any() {
                // An empty group is not a charge, so the log is posted before it.
                queue.push(Group::default()).await?;
            }
            readers.ask(query).await
        })
    }
}

/// Waits until all groups that were handed in are written, and then releases the lock.
impl Drop for Sqlite {
    fn drop(&mut self) {
        self.queue.close();
        let Some(writer) = self.writer.take() else { return };
        if writer.join().is_err() {
            tracing::error!("the writer of the database ended with a panic");
        }
    }
}

impl Store for Sqlite {
    fn commit(&self, group: Group) -> Commit {
        Box::pin(self.queue.push(group))
    }

    fn queued(&self) -> usize {
        self.queue.len()
    }

    fn backup<'a>(&'a self, to: &'a Path, at: Timestamp) -> StoreFuture<'a, BackedUp> {
        let (from, to) = (self.path.clone(), to.to_owned());
        Box::pin(async move {
            // Posts the charge log: an empty group is written after it.
            self.queue.push(Group::default()).await?;
            let written = tokio::task::spawn_blocking(move || backup::write(&from, &to, at)).await;
            written.map_err(|error| StoreError::Failed(error.to_string()))?
        })
    }

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let name = name.to_owned();
        self.ask(move |connection| owners::setting(connection, &name))
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

fn open_writer(options: &Options) -> rusqlite::Result<Connection> {
    let connection = Connection::open(&options.path)?;
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Off => "OFF",
    };
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
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
