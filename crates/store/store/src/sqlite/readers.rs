//! A few read-only connections, so that queries never wait for the writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use crate::error::StoreError;
use crate::sql::{SqlConnection, SqlFuture};
use crate::sqlite::errors::to_store_error;
use crate::sqlite::shared_sql::run_shared_query;

/// Page cache of each reader, in KiB.
const CACHE_KIB: i64 = 4096;

#[derive(Debug)]
pub(crate) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

impl ReaderPool {
    pub(crate) fn open(path: &Path, count: usize) -> Result<ReaderPool, StoreError> {
        let mut idle = Vec::with_capacity(count);
        for _ in 0..count {
            idle.push(open_reader(path).map_err(to_store_error)?);
        }
        let free = Arc::new(Semaphore::new(count));
        Ok(ReaderPool { path: path.to_owned(), idle: Mutex::new(idle), free })
    }

    /// Runs a query on a blocking thread. The whole query sees one snapshot of the database.
    pub(crate) async fn run_query<T: Send + 'static>(
        self: Arc<ReaderPool>,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = move |connection: &mut Connection| run_in_transaction(connection, query);
        self.run_blocking(move |connection| run(connection).map_err(to_store_error)).await
    }

    /// Runs a query that both databases have, in the same way.
    pub(crate) async fn run_shared<T: Send + 'static>(
        self: Arc<ReaderPool>,
        query: impl for<'c> FnOnce(&'c dyn SqlConnection) -> SqlFuture<'c, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run_blocking(move |connection| run_shared_query(connection, query)).await
    }

    async fn run_blocking<T: Send + 'static>(
        self: Arc<ReaderPool>,
        query: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Closed)?;
        let asked = tokio::task::spawn_blocking(move || {
            let mut connection = self.take().map_err(to_store_error)?;
            let answer = query(&mut connection);
            self.give_back(connection);
            drop(permit);
            answer
        });
        asked.await.map_err(|error| StoreError::Failed(error.to_string()))?
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            // A query that panicked dropped its connection.
            None => open_reader(&self.path),
        }
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn run_in_transaction<T>(
    connection: &mut Connection,
    query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction()?;
    let answer = query(&transaction)?;
    transaction.finish()?;
    Ok(answer)
}
