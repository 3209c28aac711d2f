//! Cluster membership: serves other nodes, follows their changes, and serializes startup.

use std::sync::Arc;
use std::time::Duration;

use api::console::ConsoleApp;
use background::spawn_loop;
use config::sections::cluster::ClusterConfig;
use control::secrets::{SecretName, read_or_create_secret};
use control::service::ControlService;
use http_frame::background_runs::BackgroundRuns;
use http_frame::nodes::NodeClients;
use http_frame::transport::connection_limits::ConnectionLimits;
use http_frame::transport::server::{BoundedListener, serve_listener};
use http_frame::transport::timeouts::ConnectionTimeouts;
use jobs::JobQueue;
use lanes::LanePool;
use ledger_core::OwnerId;
use store::leases::{FOUNDING, LeaseHolder, OwnerLeases};
use store_postgres::{ChangeNotice, PostgresStore};
use tokio::net::TcpSocket;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::node_operations::{self, NodeOperationSender};
use crate::failure::CommandError;

/// Time for requests of other nodes to complete after all else has ended.
const LAST_REQUESTS_MAX: Duration = Duration::from_secs(5);

/// Connections of other nodes that wait to be accepted.
const BACKLOG: u32 = 1024;

const TURN_ASKED_EVERY: Duration = Duration::from_millis(200);

/// Binds the address for other nodes without listening yet; None for a single node. Until then,
/// connections are refused, so that other nodes look for the new owner at once instead of waiting
/// for a response.
pub(super) fn bind_node_socket(
    cluster: Option<&ClusterConfig>,
) -> Result<Option<TcpSocket>, CommandError> {
    let Some(ClusterConfig { listen, .. }) = cluster else { return Ok(None) };
    let bound = || {
        let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(*listen)?;
        Ok(socket)
    };
    bound().map(Some).map_err(|error| cannot_listen(&error))
}

fn cannot_listen(error: &std::io::Error) -> CommandError {
    CommandError::Failed(format!("cannot listen on `listen` in [cluster] for other nodes: {error}"))
}

/// Waits until no other node is initializing shared state: secrets, the first account, the first
/// key.
pub(super) async fn wait_for_init_lease(
    shared: Option<&PostgresStore>,
) -> Result<(), CommandError> {
    let Some(shared) = shared else { return Ok(()) };
    while let LeaseHolder::At { .. } = shared.lease_owner(FOUNDING).await? {
        sleep(TURN_ASKED_EVERY).await;
    }
    Ok(())
}

/// Allows the next node to start.
pub(super) async fn release_init_lease(shared: Option<&PostgresStore>) -> Result<(), CommandError> {
    let Some(shared) = shared else { return Ok(()) };
    Ok(shared.release_owner(FOUNDING).await?)
}

/// Returns the connection to other nodes; None for a single node.
pub(super) async fn connect_if_shared(
    service: &ControlService,
    shared: Option<&PostgresStore>,
) -> Result<Option<Arc<NodeClients>>, CommandError> {
    match shared {
        Some(_) => connect_nodes(service).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the connection to other nodes, authenticated by their shared secret.
pub(crate) async fn connect_nodes(
    service: &ControlService,
) -> Result<Arc<NodeClients>, CommandError> {
    let secret =
        read_or_create_secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Nodes)
            .await?;
    let nodes = NodeClients::new(&hex::encode(secret)).map(Arc::new);
    let nodes =
        nodes.ok_or_else(|| CommandError::Failed("the node secret is unusable".to_owned()))?;
    let _ = service.elsewhere.set(Arc::new(NodeOperationSender(Arc::clone(&nodes))));
    Ok(nodes)
}

/// Starts serving other nodes and following their changes.
pub(super) fn start_membership(
    socket: Option<TcpSocket>,
    shared: Option<Arc<PostgresStore>>,
    served: &ConsoleApp,
    service: &Arc<ControlService>,
    lanes: &Arc<LanePool>,
    grace: Duration,
) -> Result<Option<ClusterMembership>, CommandError> {
    let app = &served.app;
    let (Some(socket), Some(shared), Some(nodes)) = (socket, shared, app.nodes.as_ref()) else {
        return Ok(None);
    };
    let listener = socket.listen(BACKLOG).map_err(|error| cannot_listen(&error))?;
    let routes = api::build_router(served.clone())
        .merge(node_operations::build_order_routes(Arc::clone(service)));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let (addresses, timeouts) = (ConnectionLimits::unbounded(), ConnectionTimeouts::default());
    let listening = BoundedListener { listener, addresses, timeouts };
    tasks.spawn(serve_listener(
        listening,
        nodes.guard_router(routes),
        Arc::clone(lanes),
        tasks.clone(),
        stop.clone(),
        grace,
    ));
    let follower = ChangeFollower {
        shared,
        service: Arc::clone(service),
        jobs: Arc::clone(&app.jobs),
        background: Arc::clone(&app.background),
        tasks: tasks.clone(),
    };
    spawn_loop(&tasks, &stop, "follow_changes", move |stop| follower.clone().run(stop));
    Ok(Some(ClusterMembership { tasks, stop }))
}

/// The running tasks that serve other nodes.
pub(super) struct ClusterMembership {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl ClusterMembership {
    /// Stops serving other nodes. This is the last step, because forwarded requests are processed
    /// until then. Accounts stay leased to this node until the database is closed, and other nodes
    /// wait for that; requests for an account released earlier would fail.
    pub(super) async fn stop_serving(self) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(LAST_REQUESTS_MAX, self.tasks.wait()).await.is_err() {
            tracing::warn!("requests of other nodes were aborted after the time limit");
        }
    }
}

/// Invalidates cached data that other nodes changed, and releases accounts that other nodes
/// request.
#[derive(Clone)]
struct ChangeFollower {
    shared: Arc<PostgresStore>,
    service: Arc<ControlService>,
    jobs: Arc<JobQueue>,
    background: Arc<BackgroundRuns>,
    tasks: TaskTracker,
}

impl ChangeFollower {
    async fn run(self, stop: CancellationToken) {
        let ChangeFollower { shared, service, jobs, background, tasks } = self;
        let mut changes = shared.changes();
        // Changes may have been missed before a restart after a panic.
        service.keys.forget_all();
        jobs.wake();
        background.wake();
        service.keys.record_changes_received();
        loop {
            let change = tokio::select! {
                () = stop.cancelled() => return,
                change = changes.recv() => change,
            };
            match change {
                Ok(ChangeNotice::Key(key)) => service.keys.forget_key(key),
                Ok(ChangeNotice::Owner(_) | ChangeNotice::All) | Err(RecvError::Lagged(_)) => {
                    service.keys.forget_all();
                    jobs.wake();
                    background.wake();
                }
                Ok(ChangeNotice::Jobs) => {
                    jobs.wake();
                    background.wake();
                }
                Ok(ChangeNotice::Settings) => {}
                Ok(ChangeNotice::Beat) => service.keys.record_changes_received(),
                // In a task of its own: it may wait for the store, which must not delay changes of
                // keys.
                Ok(ChangeNotice::Recall { owner }) => {
                    tasks.spawn(release_account(Arc::clone(&service), owner));
                }
                Err(RecvError::Closed) => return,
            }
        }
    }
}

async fn release_account(service: Arc<ControlService>, owner: OwnerId) {
    if let Err(error) = service.ledger.release_owner(owner).await {
        tracing::warn!(%error, "an account was not released: {error}");
    }
}
