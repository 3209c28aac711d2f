//! The one thread that writes: it drains the queue, commits everything in one transaction, and
//! only then tells each waiter.
//!
//! The cost of a commit is its fsync, so the more groups wait, the cheaper each becomes. Groups
//! run without savepoints, and sums such as balances are written once per batch. Only when some
//! group of a batch fails does the batch run again, each group by itself, so that the one at
//! fault fails alone.

use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::fault::{is_fatal, refusal};
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::queue::{Queue, Waiting};
use crate::write::Group;

/// The log is moved into the database file whenever about this many rows were written: some 10 to
/// 20 MiB of it.
const CHECKPOINT_WRITES: usize = 20_000;

pub(crate) struct Writer {
    connection: Connection,
    memory: Memory,
    writes_in_log: usize,
}

/// What stopped a group or a batch.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

/// If the writer panics, nobody must wait for it for ever.
struct AbandonOnExit(Arc<Queue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Writes until the queue is closed, then moves the log into the database file.
pub(crate) fn run(connection: Connection, queue: Arc<Queue>) {
    let _abandon = AbandonOnExit(Arc::clone(&queue));
    let mut writer = Writer { connection, memory: Memory::default(), writes_in_log: 0 };
    let mut batch = Vec::new();
    while queue.take(&mut batch) {
        let started = Instant::now();
        let outcomes = writer.commit(&batch);
        metrics::histogram!("store_commit_seconds").record(started.elapsed().as_secs_f64());
        metrics::histogram!("store_batch_groups").record(batch.len() as f64);
        for (waiting, outcome) in batch.drain(..).zip(outcomes) {
            writer.writes_in_log += waiting.group.writes.len();
            // A waiter that went away does not undo what it asked for.
            let _ = waiting.done.send(outcome);
        }
        if CHECKPOINT_WRITES <= writer.writes_in_log {
            writer.checkpoint();
        }
    }
    writer.checkpoint();
}

impl Writer {
    fn commit(&mut self, batch: &[Waiting]) -> Vec<Result<(), StoreError>> {
        let together = self.transact(|connection, memory| {
            let mut posting = Posting::new(connection, memory)?;
            for waiting in batch {
                posting.add(&waiting.group)?;
            }
            posting.finish()
        });
        match together {
            Ok(()) => vec![Ok(()); batch.len()],
            Err(StoreError::Full) => vec![Err(StoreError::Full); batch.len()],
            Err(error) if batch.len() == 1 => vec![Err(error)],
            Err(_) => self.commit_apart(batch),
        }
    }

    /// Runs each group behind a savepoint of its own; those that fail leave no trace.
    fn commit_apart(&mut self, batch: &[Waiting]) -> Vec<Result<(), StoreError>> {
        let apart = self.transact(|connection, memory| {
            let mut outcomes = Vec::with_capacity(batch.len());
            for waiting in batch {
                outcomes.push(attempt(connection, memory, &waiting.group)?);
            }
            Ok(outcomes)
        });
        apart.unwrap_or_else(|error| vec![Err(error); batch.len()])
    }

    /// One transaction: committed and durable if this returns `Ok`, undone otherwise.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Memory) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let worked = begin(&self.connection)
            .map_err(Fault::Sqlite)
            .and_then(|()| work(&self.connection, &mut self.memory))
            .and_then(|value| Ok(run_cached(&self.connection, "COMMIT").map(|()| value)?));
        worked.map_err(|fault| {
            self.memory.forget();
            self.undo();
            stop_or_refuse(fault)
        })
    }

    /// Moves the log into the database file, when nobody waits for it. SQLite would do this by
    /// itself, but keep quiet about a failed fsync.
    fn checkpoint(&mut self) {
        self.writes_in_log = 0;
        let Err(error) = self.connection.pragma_query(None, "wal_checkpoint", |_| Ok(())) else {
            return;
        };
        if is_fatal(&error) {
            stop(&error);
        }
        tracing::warn!(%error, "the write-ahead log stays beside the database: {error}");
    }

    fn undo(&self) {
        // SQLite has undone the transaction itself after some errors.
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = run_cached(&self.connection, "ROLLBACK") {
            stop(&error);
        }
    }
}

fn begin(connection: &Connection) -> rusqlite::Result<()> {
    run_cached(connection, "BEGIN IMMEDIATE")
}

fn run_cached(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// The inner result is the group's own; the outer one says whether the transaction can go on.
fn attempt(
    connection: &Connection,
    memory: &mut Memory,
    group: &Group,
) -> Result<Result<(), StoreError>, Fault> {
    run_cached(connection, "SAVEPOINT one_group")?;
    let mut posting = Posting::new(connection, memory)?;
    let worked = posting.add(group).and_then(|()| posting.finish());
    let outcome = match worked {
        Ok(()) => Ok(()),
        Err(Fault::Sqlite(error)) if connection.is_autocommit() || is_fatal(&error) => {
            return Err(Fault::Sqlite(error));
        }
        Err(fault) => {
            memory.forget();
            run_cached(connection, "ROLLBACK TO one_group")?;
            Err(stop_or_refuse(fault))
        }
    };
    run_cached(connection, "RELEASE one_group")?;
    Ok(outcome)
}

fn stop_or_refuse(fault: Fault) -> StoreError {
    match fault {
        Fault::Refused(error) => error,
        Fault::Sqlite(error) => {
            if is_fatal(&error) {
                stop(&error);
            }
            refusal(error)
        }
    }
}

/// Ends the process at once: going on would mean acknowledging what may not be on disk.
fn stop(error: &rusqlite::Error) -> ! {
    tracing::error!(%error, "the database cannot be written safely; stopping: {error}");
    std::process::abort();
}
