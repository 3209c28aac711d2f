//! A node among others: it listens to them, hears of what they change, and starts when it is its
//! turn.

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

/// What other nodes still wait for when all else has ended.
const LAST_REQUESTS_MAX: Duration = Duration::from_secs(5);

/// Connections of other nodes that wait to be accepted.
const BACKLOG: u32 = 1024;

const TURN_ASKED_EVERY: Duration = Duration::from_millis(200);

/// Where other nodes will reach this one; none where there is one node. Until it serves them they are
/// refused, and look for whoever has taken over: one that could connect would wait for an answer.
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

/// Waits until no other node makes anything ready that all share: secrets, the first account, the
/// first key.
pub(super) async fn wait_for_turn(shared: Option<&Postgres>) -> Result<(), Failure> {
    let Some(shared) = shared else { return Ok(()) };
    while let Leased::At { .. } = shared.lease_owner(FOUNDING).await? {
        sleep(TURN_ASKED_EVERY).await;
    }
    Ok(())
}

/// The next node may start.
pub(super) async fn end_turn(shared: Option<&Postgres>) -> Result<(), Failure> {
    let Some(shared) = shared else { return Ok(()) };
    Ok(shared.release_owner(FOUNDING).await?)
}

/// The way to other nodes, where there are any.
pub(super) async fn nodes(
    service: &Service,
    shared: Option<&Postgres>,
) -> Result<Option<Arc<Nodes>>, Failure> {
    match shared {
        Some(_) => connect(service).await.map(Some),
        None => Ok(None),
    }
}

/// The way to other nodes, by the secret that all of them share.
pub(crate) async fn connect(service: &Service) -> Result<Arc<Nodes>, Failure> {
    let secret =
        secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Nodes).await?;
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let nodes = Nodes::new(&text).map(Arc::new);
    let nodes = nodes.ok_or_else(|| Failure::Failed("the node secret is unusable".to_owned()))?;
    let _ = service.elsewhere.set(Arc::new(Sender(Arc::clone(&nodes))));
    Ok(nodes)
}

/// Serves other nodes, and follows what they change.
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

/// That other nodes are served here.
pub(super) struct Membership {
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Membership {
    /// Serves other nodes no more. It is the last that ends: until then what others send here is worked
    /// on. Everybody stays at home here until the database is closed, and others wait for that; an
    /// owner that left sooner would be asked for in vain.
    pub(super) async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(LAST_REQUESTS_MAX, self.tasks.wait()).await.is_err() {
            tracing::warn!("requests of other nodes were cut off");
        }
    }
}

/// Forgets what others have changed, and gives up owners that others ask for.
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
        // After a panic, changes that were told meanwhile are unknown.
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
                // It may wait for the store, and changes of keys do not wait for it.
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
