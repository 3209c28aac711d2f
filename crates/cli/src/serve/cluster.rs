//! Cluster membership: serves other nodes, follows their changes, and serializes startup.

use std::sync::Arc;
use std::time::Duration;

use api::app::Shared as App;
use api::home::Nodes;
use api::transport::addresses::Addresses;
use api::transport::server::{Listening, serve};
use api::transport::timeouts::ConnectionTimeouts;
use background::spawn_loop;
use config::sections::cluster::Cluster;
use control::secrets::{SecretName, secret};
use control::service::Service;
use credits::OwnerId;
use jobs::Jobs;
use lanes::Lanes;
use store::leases::{FOUNDING, Leased, OwnerLeases};
use store_postgres::{Change, Postgres};
use tokio::net::TcpSocket;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::orders::{self, Sender};
use crate::failure::Failure;

/// Time for requests of other nodes to complete after all else has ended.
const LAST_REQUESTS_MAX: Duration = Duration::from_secs(5);

/// Connections of other nodes that wait to be accepted.
const BACKLOG: u32 = 1024;

const TURN_ASKED_EVERY: Duration = Duration::from_millis(200);

/// Binds the address for other nodes without listening yet; None for a single node. Until then,
/// connections are refused, so that other nodes look for the new owner at once instead of waiting
/// for a response.
pub(super) fn bind(cluster: Option<&Cluster>) -> Result<Option<TcpSocket>, Failure> {
    let Some(Cluster { listen, .. }) = cluster else { return Ok(None) };
    let bound = || {
        let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(*listen)?;
        Ok(socket)
    };
    bound().map(Some).map_err(|error| cannot_listen(&error))
}

fn cannot_listen(error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot listen on `listen` in [cluster] for other nodes: {error}"))
}

/// Waits until no other node is initializing shared state: secrets, the first account, the first
/// key.
pub(super) async fn wait_for_turn(shared: Option<&Postgres>) -> Result<(), Failure> {
    let Some(shared) = shared else { return Ok(()) };
    while let Leased::At { .. } = shared.lease_owner(FOUNDING).await? {
        sleep(TURN_ASKED_EVERY).await;
    }
    Ok(())
}

/// Allows the next node to start.
pub(super) async fn end_turn(shared: Option<&Postgres>) -> Result<(), Failure> {
    let Some(shared) = shared else { return Ok(()) };
    Ok(shared.release_owner(FOUNDING).await?)
}

/// Returns the connection to other nodes; None for a single node.
pub(super) async fn nodes(
    service: &Service,
    shared: Option<&Postgres>,
) -> Result<Option<Arc<Nodes>>, Failure> {
    match shared {
        Some(_) => connect(service).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the connection to other nodes, authenticated by their shared secret.
pub(crate) async fn connect(service: &Service) -> Result<Arc<Nodes>, Failure> {
    let secret =
        secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Nodes).await?;
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let nodes = Nodes::new(&text).map(Arc::new);
    let nodes = nodes.ok_or_else(|| Failure::Failed("the node secret is unusable".to_owned()))?;
    let _ = service.elsewhere.set(Arc::new(Sender(Arc::clone(&nodes))));
    Ok(nodes)
}

/// Starts serving other nodes and following their changes.
pub(super) fn start(
    (socket, shared): (Option<TcpSocket>, Option<Arc<Postgres>>),
    app: &App,
    (service, lanes): (&Arc<Service>, &Arc<Lanes>),
    grace: Duration,
) -> Result<Option<Membership>, Failure> {
    let (Some(socket), Some(shared), Some(nodes)) = (socket, shared, app.nodes.as_ref()) else {
        return Ok(None);
    };
    let listener = socket.listen(BACKLOG).map_err(|error| cannot_listen(&error))?;
    let routes = api::router(Arc::clone(app)).merge(orders::routes(Arc::clone(service)));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let place = (Arc::clone(lanes), tasks.clone());
    let (addresses, timeouts) = (Addresses::unbounded(), ConnectionTimeouts::default());
    let listening = Listening { listener, addresses, timeouts };
    tasks.spawn(serve(listening, nodes.guard(routes), place, stop.clone(), grace));
    let follower = Follower {
        shared,
        service: Arc::clone(service),
        jobs: Arc::clone(&app.jobs),
        tasks: tasks.clone(),
    };
    spawn_loop(&tasks, &stop, "follow_changes", move |stop| follower.clone().run(stop));
    Ok(Some(Membership { tasks, stop }))
}

/// The running tasks that serve other nodes.
pub(super) struct Membership {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Membership {
    /// Stops serving other nodes. This is the last step, because forwarded requests are processed
    /// until then. Accounts stay leased to this node until the database is closed, and other nodes
    /// wait for that; requests for an account released earlier would fail.
    pub(super) async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(LAST_REQUESTS_MAX, self.tasks.wait()).await.is_err() {
            tracing::warn!("requests of other nodes were cut off");
        }
    }
}

/// Invalidates cached data that other nodes changed, and releases accounts that other nodes
/// request.
#[derive(Clone)]
struct Follower {
    shared: Arc<Postgres>,
    service: Arc<Service>,
    jobs: Arc<Jobs>,
    tasks: TaskTracker,
}

impl Follower {
    async fn run(self, stop: CancellationToken) {
        let Follower { shared, service, jobs, tasks } = self;
        let mut changes = shared.changes();
        // Changes may have been missed before a restart after a panic.
        service.keys.forget_all();
        jobs.wake();
        service.keys.note_heard();
        loop {
            let change = tokio::select! {
                () = stop.cancelled() => return,
                change = changes.recv() => change,
            };
            match change {
                Ok(Change::Key(key)) => service.keys.forget(key),
                Ok(Change::Owner(_) | Change::All) | Err(RecvError::Lagged(_)) => {
                    service.keys.forget_all();
                    jobs.wake();
                }
                Ok(Change::Jobs) => jobs.wake(),
                Ok(Change::Settings) => {}
                Ok(Change::Beat) => service.keys.note_heard(),
                // In a task of its own: it may wait for the store, which must not delay changes of
                // keys.
                Ok(Change::Recall { owner }) => {
                    tasks.spawn(give_up(Arc::clone(&service), owner));
                }
                Err(RecvError::Closed) => return,
            }
        }
    }
}

async fn give_up(service: Arc<Service>, owner: OwnerId) {
    if let Err(error) = service.ledger.give_up(owner).await {
        tracing::warn!(%error, "an account was not given up: {error}");
    }
}
