//! The store on Postgres 15 or later, for one node or several that share a database.
//!
//! Reading order: `writer.rs` takes groups and commits them in batches (`batch.rs`), whose
//! statements are collected by `posting/`; `shared_sql.rs` runs the statements of `store::sql`, and
//! `queries/` has those that only Postgres runs; `node.rs` and `lease.rs` decide which nodes may
//! write, and `owner_lease.rs` which node decides about an owner's money.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use background::supervise_loop;
use moment::Timestamp;
use store::backup::BackupSummary;
use store::error::StoreError;
use store::schema::SchemaStatus;
use store::sql::{ReadMode, SqlStore, settings};
use store::write::WriteGroup;
use store::{CommitFuture, Store, StoreFuture};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Mutex, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::identity::{CurrentIdentity, DatedIdentity};
use crate::lease::{KeeperLinks, LeaseKeeper};
use crate::node::NodeRegistration;
use crate::options::DatabaseTarget;
use crate::owner_lease::ANSWER_MAX;
use crate::pool::{PooledSession, SessionPool};
use crate::pulse::{DatabasePulse, PulseTask};
use crate::queue::GroupQueue;
use crate::session::PostgresSession;
use crate::snapshot::SettledSequence;
use crate::writer::{PostgresWriter, WriterLinks, WriterReach};

mod accounts;
mod batch;
mod changes;
mod columns;
mod connector;
mod error;
mod export;
mod identity;
mod import;
mod lease;
mod node;
mod options;
mod owner_lease;
mod pool;
mod posting;
mod pulse;
mod queries;
mod queue;
mod schema;
mod session;
mod shared_sql;
mod snapshot;
mod statements;
mod tls;
mod writer;

pub use crate::changes::ChangeNotice;
pub use crate::lease::LeaseState;
pub use crate::node::{NodeId, RegisteredNode};
pub use crate::options::PostgresOptions;

/// Threads of the store's own runtime, which drives connections, writes and extends the lease;
/// queries run on the caller's. It is separate so that none of this waits behind the work of the
/// service or ends with it.
const WORKER_THREADS: usize = 2;

/// Longest wait at the start for the connection that listens for changes.
const LISTENING_MAX: Duration = Duration::from_secs(10);

/// Longest wait for groups that were handed in when the store is dropped.
const CLOSING_MAX: Duration = Duration::from_secs(15);

/// Concurrent requests for owners' leases; further ones wait.
const OWNERS_AT_ONCE: usize = 4;

pub struct PostgresStore {
    queue: Option<GroupQueue>,
    pool: Arc<SessionPool>,
    owners: Arc<SessionPool>,
    connector: PostgresConnector,
    entrant: NodeRegistration,
    seat: Arc<CurrentIdentity>,
    lease: watch::Receiver<LeaseState>,
    lease_state: Arc<watch::Sender<LeaseState>>,
    reach: WriterReach,
    pulse: Arc<DatabasePulse>,
    changes: broadcast::Sender<ChangeNotice>,
    settled_transfers: SettledSequence,
    settled_usage: SettledSequence,
    tasks: StoreTasks,
    runtime: OwnRuntime,
}

/// The tasks of a store, in the order in which they end.
#[derive(Default)]
struct StoreTasks {
    writer: TaskTracker,
    others: TaskTracker,
    /// Cancelled when no more groups are accepted.
    closing: CancellationToken,
    /// Cancelled when all groups that were handed in are written.
    stop: CancellationToken,
}

impl StoreTasks {
    /// Starts the task that extends the node's lease.
    fn keep_lease(&self, keeper: LeaseKeeper, handle: &Handle) {
        let keeper = Arc::new(Mutex::new(keeper));
        let keeping = supervise_loop("leases", self.stop.clone(), move |stop| {
            let keeper = Arc::clone(&keeper);
            async move { keeper.lock().await.run(stop).await }
        });
        self.others.spawn_on(keeping, handle);
    }

    /// Compares the clocks once, so that nothing is decided by a wrong one, and then starts the
    /// task that polls the database.
    async fn watch_pulse(
        &self,
        connector: &PostgresConnector,
        handle: &Handle,
    ) -> Result<Arc<DatabasePulse>, StoreError> {
        let (mut task, pulse) = PulseTask::new(connector.clone());
        task.poll_database().await?;
        let task = Arc::new(Mutex::new(task));
        let beating = supervise_loop("pulse", self.stop.clone(), move |stop| {
            let task = Arc::clone(&task);
            async move { task.lock().await.run(stop).await }
        });
        self.others.spawn_on(beating, handle);
        Ok(pulse)
    }
}

/// A runtime cannot be dropped in an async context, but it can be shut down in the background.
struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    fn start() -> Result<OwnRuntime, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .thread_name("store-postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Failed(format!("cannot start a runtime: {error}")))?;
        Ok(OwnRuntime(Some(runtime)))
    }

    fn handle(&self) -> Handle {
        self.0.as_ref().expect("the runtime is there until it is dropped").handle().clone()
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The schema status of a database. Changes nothing, and does not register as a node.
pub async fn schema_status(url: &str) -> Result<SchemaStatus, StoreError> {
    let (_runtime, session) = connect_without_node(url).await?;
    Ok(schema::read_status(&session).await?)
}

/// Migrates the schema of a database, while nodes use it.
pub async fn migrate_schema(url: &str) -> Result<(), StoreError> {
    let (_runtime, session) = connect_without_node(url).await?;
    schema::apply_migrations(&session).await
}

/// Opens a connection without registering as a node.
async fn connect_without_node(url: &str) -> Result<(OwnRuntime, PostgresSession), StoreError> {
    let runtime = OwnRuntime::start()?;
    let connector =
        PostgresConnector::new(DatabaseTarget::parse(url)?, "migrate", runtime.handle())?;
    let session = connector.connect(ConnectionPurpose::Migrate).await?;
    Ok((runtime, session))
}

impl PostgresStore {
    /// Connects, migrates the schema, and registers this process as a node.
    pub async fn connect(options: &PostgresOptions) -> Result<PostgresStore, StoreError> {
        let target = DatabaseTarget::parse(&options.url)?;
        let runtime = OwnRuntime::start()?;
        let handle = runtime.handle();
        let connector = PostgresConnector::new(target, &options.node_name, handle.clone())?;
        schema::apply_migrations(&connector.connect(ConnectionPurpose::Migrate).await?).await?;
        let entrant = NodeRegistration {
            name: options.node_name.clone(),
            address: options.node_address.clone(),
            is_alone: options.is_alone,
            is_returning: false,
        };
        let since = Instant::now();
        let (session, identity) = node::connect_and_register(&connector, entrant.clone()).await?;
        let tenure = DatedIdentity { identity, since };
        let tasks = StoreTasks::default();
        let (lease_state, lease) = watch::channel(LeaseState::Held);
        let (seat, lease_state) = (Arc::new(CurrentIdentity::new(tenure)), Arc::new(lease_state));
        let links = KeeperLinks {
            seat: Arc::clone(&seat),
            state: Arc::clone(&lease_state),
            name: options.node_name.clone(),
            may_return: !options.is_alone,
        };
        let keeper = LeaseKeeper::new(connector.clone(), session, tenure, links);
        tasks.keep_lease(keeper, &handle);
        let pulse = tasks.watch_pulse(&connector, &handle).await?;
        let changes = changes::create_channel();
        let (heard, ready) = (changes.clone(), CancellationToken::new());
        let (listener, listened) = (connector.clone(), ready.clone());
        let listening = supervise_loop("listen", tasks.stop.clone(), move |stop| {
            changes::listen_for_changes(listener.clone(), heard.clone(), listened.clone(), stop)
        });
        tasks.others.spawn_on(listening, &handle);
        let writing = connector.connect(ConnectionPurpose::Write).await?;
        let reach = WriterReach::default();
        let links = WriterLinks {
            seat: Arc::clone(&seat),
            closing: tasks.closing.clone(),
            reach: reach.clone(),
            pulse: Arc::clone(&pulse),
        };
        let writer = PostgresWriter::new(connector.clone(), writing, links);
        let (queue, arrivals) = queue::create_queue();
        tasks.writer.spawn_on(writer.run(arrivals), &handle);
        let is_listening = tokio::time::timeout(LISTENING_MAX, ready.cancelled()).await.is_ok();
        if !is_listening {
            return Err(StoreError::Failed("the database cannot be listened to".to_owned()));
        }
        let build_pool =
            |purpose, size| Arc::new(SessionPool::new(connector.clone(), purpose, size));
        Ok(PostgresStore {
            queue: Some(queue),
            pool: build_pool(ConnectionPurpose::Read, options.readers),
            owners: build_pool(ConnectionPurpose::Own, OWNERS_AT_ONCE),
            connector,
            entrant,
            seat,
            lease,
            lease_state,
            reach,
            pulse,
            changes,
            settled_transfers: SettledSequence::default(),
            settled_usage: SettledSequence::default(),
            tasks,
            runtime,
        })
    }

    /// The id of this node.
    pub fn node(&self) -> NodeId {
        NodeId(self.seat.identity().id)
    }

    /// The state of this node's lease. Without the lease it should refuse paid work before it
    /// begins: its writes would be refused as [`StoreError::Fenced`].
    pub fn lease(&self) -> watch::Receiver<LeaseState> {
        self.lease.clone()
    }

    /// Changes by other nodes and by this one, from this call on.
    pub fn changes(&self) -> broadcast::Receiver<ChangeNotice> {
        self.changes.subscribe()
    }

    /// All nodes that have registered, by name.
    pub async fn nodes(&self) -> Result<Vec<RegisteredNode>, StoreError> {
        self.query(async |db| node::list_nodes(&db).await).await
    }

    /// Fences the nodes whose lease has expired, and returns their number.
    pub async fn retire_expired(&self) -> Result<u64, StoreError> {
        self.query(async |db| node::retire_expired(&db).await).await
    }

    /// Writes all groups that were handed in, and releases the lease.
    pub async fn close(mut self) {
        self.begin_closing();
        self.tasks.writer.wait().await;
        self.tasks.stop.cancel();
        self.tasks.others.wait().await;
    }

    fn begin_closing(&mut self) {
        self.tasks.closing.cancel();
        // Without senders the writer ends when it has written the waiting groups.
        self.queue = None;
        self.tasks.writer.close();
        self.tasks.others.close();
    }

    /// Runs one statement, or several that need not see the same snapshot. Cancelled when the
    /// database is known to be down.
    fn query<'a, T, F>(
        &self,
        query: impl FnOnce(Arc<PooledSession>) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, PgError>> + Send,
        T: Send,
    {
        let (pool, pulse) = (Arc::clone(&self.pool), Arc::clone(&self.pulse));
        Box::pin(async move { pool.run_query(&pulse, None, query).await })
    }

    /// Like `query`, with a timeout, for indexed queries that a request waits for.
    fn query_with_timeout<'a, T, F>(
        &self,
        query: impl FnOnce(Arc<PooledSession>) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, PgError>> + Send,
        T: Send,
    {
        let (pool, pulse) = (Arc::clone(&self.pool), Arc::clone(&self.pulse));
        Box::pin(async move { pool.run_query(&pulse, Some(ANSWER_MAX), query).await })
    }

    /// Like `query`; all statements of the query see one snapshot.
    fn query_snapshot<'a, T, F>(
        &self,
        query: impl FnOnce(Arc<PooledSession>) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, PgError>> + Send,
        T: Send,
    {
        self.query(async move |reader: Arc<PooledSession>| {
            snapshot::begin_snapshot(&reader).await?;
            let answer = query(Arc::clone(&reader)).await?;
            snapshot::end_snapshot(&reader).await?;
            Ok(answer)
        })
    }

    /// Like `query_snapshot`, in a snapshot below whose newest sequence number no row can appear
    /// later: see [`snapshot::begin_settled_snapshot`].
    fn query_settled<'a, T, F>(
        &self,
        query: impl FnOnce(Arc<PooledSession>) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        F: Future<Output = Result<T, PgError>> + Send,
        T: Send,
    {
        self.query(async move |reader: Arc<PooledSession>| {
            snapshot::begin_settled_snapshot(&reader).await?;
            let answer = query(Arc::clone(&reader)).await?;
            snapshot::end_snapshot(&reader).await?;
            Ok(answer)
        })
    }
}

/// Waits for the groups that were handed in before it releases the lease.
impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.begin_closing();
        self.pool.close();
        self.owners.close();
        let Some(runtime) = &self.runtime.0 else { return };
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let (writer, others) = (self.tasks.writer.clone(), self.tasks.others.clone());
        let stop = self.tasks.stop.clone();
        runtime.spawn(async move {
            writer.wait().await;
            stop.cancel();
            others.wait().await;
            drop(done);
        });
        // Nothing is ever sent: this ends when the sender is dropped.
        if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(CLOSING_MAX) {
            tracing::error!("the database did not take everything before the store was closed");
        }
    }
}

impl Store for PostgresStore {
    fn commit(&self, group: WriteGroup) -> CommitFuture {
        match &self.queue {
            Some(queue) => queue.push(group),
            None => Box::pin(async { Err(StoreError::Closed) }),
        }
    }

    fn queued_groups(&self) -> usize {
        self.queue.as_ref().map_or(0, GroupQueue::len)
    }

    fn can_write(&self) -> bool {
        let is_reached = !self.reach.is_lost() && !self.pulse.is_lost();
        *self.lease.borrow() == LeaseState::Held && is_reached && self.clock_fault().is_none()
    }

    fn confirm_reach(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.pulse.confirm_reached().await?;
            if self.can_write() {
                return Ok(());
            }
            let fault = self.clock_fault();
            Err(fault.map_or(StoreError::Fenced, StoreError::Failed))
        })
    }

    /// None for a node that has the database to itself, which follows its own clock.
    fn clock_fault(&self) -> Option<String> {
        if self.entrant.is_alone { None } else { self.pulse.clock_fault() }
    }

    fn backup<'a>(&'a self, _to: &'a Path, _at: Timestamp) -> StoreFuture<'a, BackupSummary> {
        let words = "a database on Postgres is backed up with its own tools: `pg_dump` for a copy of \
                     this one, or base backups and archived write-ahead logs for any moment";
        Box::pin(async move { Err(StoreError::Unsuitable(words.to_owned())) })
    }

    fn setting<'a>(&'a self, name: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let name = name.to_owned();
        self.read(ReadMode::LOOKUP, move |db| {
            Box::pin(async move { settings::read_setting(db, &name).await })
        })
    }
}
