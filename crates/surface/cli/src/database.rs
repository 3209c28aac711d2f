//! Opens the configured database: an SQLite file or Postgres.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::sections::cluster::ClusterConfig;
use config::sections::store::{StoreConfig as StoreSection, StoreLocation};
use store::Store;
use store::error::StoreError;
use store::sqlite::{SqliteOptions, SqliteStore};
use store_postgres::{LeaseState, PostgresStore};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::failure::CommandError;

/// Time that a service waits for its predecessor to stop, or for the lease of a killed one to
/// expire.
const PREDECESSOR_MAX: Duration = Duration::from_secs(20);
const PREDECESSOR_ASKED_EVERY: Duration = Duration::from_millis(500);

/// The maximum number of concurrent read queries to Postgres; further ones wait.
const READERS: usize = 8;

/// The kind of process that opens the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseOpener<'a> {
    /// A long-running service.
    Service,
    /// A service that is a node of a cluster.
    Node(&'a ClusterConfig),
    /// A command, while no service runs on this data directory.
    Command,
}

/// An open database.
pub(crate) struct OpenDatabase {
    pub(crate) store: Arc<dyn Store>,
    /// The state of this process's write lease; None if no other process can write (SQLite).
    pub(crate) lease: Option<watch::Receiver<LeaseState>>,
    /// The same store for access shared with other processes; None if this process is the only one.
    pub(crate) shared: Option<Arc<PostgresStore>>,
}

/// Opens the database, and creates the data directory if it is missing.
pub(crate) async fn open_database(
    data_dir: &Path,
    section: &StoreSection,
    opener: DatabaseOpener<'_>,
) -> Result<OpenDatabase, CommandError> {
    // Accessible by this user only, because the directory contains balances and the control socket.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data_dir);
    made.map_err(|error| {
        CommandError::Failed(format!(
            "cannot make the data directory {}: {error}; choose another one with --data-dir",
            data_dir.display()
        ))
    })?;
    match &section.location {
        StoreLocation::Sqlite(_) if matches!(opener, DatabaseOpener::Node(_)) => Err(CommandError::Failed(
            "[cluster] needs a database that nodes can share: set `url` in [store] to a Postgres"
                .to_owned(),
        )),
        StoreLocation::Sqlite(file) => open_sqlite(data_dir, &data_dir.join(file)),
        StoreLocation::Postgres(url) => open_postgres(data_dir, url.expose(), opener).await,
    }
}

/// Returns the path of the SQLite database, which may not exist yet.
pub(crate) fn resolve_sqlite_path(
    data_dir: &Path,
    section: &StoreSection,
) -> Result<PathBuf, CommandError> {
    let StoreLocation::Sqlite(file) = &section.location else {
        return Err(CommandError::Failed(
            "the database is on Postgres: use `pg_dump` and `pg_restore`, or base backups and \
             archived logs (docs/operating.md)"
                .to_owned(),
        ));
    };
    Ok(data_dir.join(file))
}

fn open_sqlite(data_dir: &Path, database: &Path) -> Result<OpenDatabase, CommandError> {
    let store =
        SqliteStore::open(&SqliteOptions::durable(database)).map_err(|error| match error {
            StoreError::InUse { .. } => in_use(database, data_dir, &error),
            other => other.into(),
        })?;
    // Recorded only for the error message of a process that finds the database in use.
    let _ = store::sqlite::note_holder(database, data_dir);
    Ok(OpenDatabase { store: Arc::new(store), lease: None, shared: None })
}

/// Builds the error for a database in use although no socket answers in this data directory.
fn in_use(database: &Path, data_dir: &Path, error: &StoreError) -> CommandError {
    let holder = store::sqlite::read_lock_holder(database).filter(|holder| holder != data_dir);
    CommandError::Unreachable(match holder {
        Some(holder) => format!(
            "{} is in use by the service whose data directory is {holder}; name that one: \
             --data-dir {holder}",
            database.display(),
            holder = holder.display()
        ),
        None => format!("{error}; it does not answer on its socket yet, try again in a moment"),
    })
}

async fn open_postgres(
    data_dir: &Path,
    url: &str,
    opener: DatabaseOpener<'_>,
) -> Result<OpenDatabase, CommandError> {
    let address = match opener {
        DatabaseOpener::Node(cluster) => cluster.address.clone(),
        DatabaseOpener::Service | DatabaseOpener::Command => String::new(),
    };
    let options = store_postgres::PostgresOptions {
        // Only a service without a cluster must be the sole user: nodes and commands lease each
        // account.
        is_alone: opener == DatabaseOpener::Service,
        node_address: address,
        readers: READERS,
        ..store_postgres::PostgresOptions::new(url, node_name(data_dir, opener))
    };
    let begun = Instant::now();
    let mut is_told = false;
    loop {
        match PostgresStore::connect(&options).await {
            Ok(store) => {
                let lease = Some(store.lease());
                let store = Arc::new(store);
                let is_shared = opener != DatabaseOpener::Service;
                let shared = is_shared.then(|| Arc::clone(&store));
                return Ok(OpenDatabase { store, lease, shared });
            }
            Err(StoreError::Occupied { node })
                if opener != DatabaseOpener::Command && begun.elapsed() < PREDECESSOR_MAX =>
            {
                if !is_told {
                    tracing::info!("waiting for the node `{node}`, which has the database");
                    is_told = true;
                }
                sleep(PREDECESSOR_ASKED_EVERY).await;
            }
            Err(error @ StoreError::Occupied { .. }) => {
                return Err(CommandError::Unreachable(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens Postgres for a command that needs exclusive use. Does not wait for a running service.
pub(crate) async fn connect_alone(
    data_dir: &Path,
    url: &str,
) -> Result<PostgresStore, CommandError> {
    let name = node_name(data_dir, DatabaseOpener::Command);
    let options = store_postgres::PostgresOptions {
        is_alone: true,
        ..store_postgres::PostgresOptions::new(url, name)
    };
    PostgresStore::connect(&options).await.map_err(|error| match error {
        StoreError::Occupied { node } => CommandError::Unreachable(format!(
            "the database is in use by the node `{node}`; stop it first. If it was killed, try again \
             in 15 seconds"
        )),
        other => other.into(),
    })
}

/// Returns the node name for the lease. A restarted service has the same name and takes over its
/// own lease; every command has a new name.
fn node_name(data_dir: &Path, opener: DatabaseOpener<'_>) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let folder = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    let name = match opener {
        DatabaseOpener::Node(ClusterConfig { node: Some(name), .. }) => name.clone(),
        DatabaseOpener::Node(_) => host.trim().to_owned(),
        DatabaseOpener::Service => format!("{}:{}", host.trim(), folder.display()),
        DatabaseOpener::Command => format!("command {} on {}", std::process::id(), host.trim()),
    };
    shorten_name(name)
}

/// Shortens a name to 128 characters by cutting the start, because the end of a path is more
/// specific.
fn shorten_name(name: String) -> String {
    const CHARS_MAX: usize = 128;
    let skipped = name.chars().count().saturating_sub(CHARS_MAX);
    name.chars().skip(skipped).collect()
}
