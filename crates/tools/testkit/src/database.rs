//! The database of a test: SQLite in a folder, or Postgres if the environment names a server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::Store;
use store::sqlite::{SqliteOptions, SqliteStore};
use store_postgres::PostgresStore;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

/// The URL of a server on which tests may create databases. If set, all tests of the gateway use
/// it, each with its own database, which is not removed.
const SERVER: &str = "TOLLGATE_TEST_POSTGRES";

#[expect(clippy::disallowed_methods, reason = "it is a choice of whoever runs the tests")]
pub(crate) async fn create_store(folder: &Path) -> Arc<dyn Store> {
    match std::env::var(SERVER) {
        Ok(server) => Arc::new(on_postgres(&server).await),
        Err(_) => Arc::new(
            SqliteStore::open(&SqliteOptions::scratch(folder.join("tollgate.db"))).unwrap(),
        ),
    }
}

async fn on_postgres(server: &str) -> PostgresStore {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let name = format!("test_{}_{number}", std::process::id());
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let (address, _) = server.rsplit_once('/').expect("the URL names a database");
    let options = store_postgres::PostgresOptions::new(format!("{address}/{name}"), "test");
    PostgresStore::connect(&options).await.unwrap()
}
