//! Notifications of changes that other nodes made, so that cached copies are dropped.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::{KeyId, OwnerId};
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::columns::read_column;
use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::session::PostgresSession;

/// The channel for notifications.
pub(crate) const CHANNEL: &str = "tollgate";

/// Changes of one transaction above which `ChangeNotice::All` is sent instead.
pub(crate) const CHANGES_MAX: usize = 64;

/// Capacity of the broadcast channel; a receiver that falls further behind must assume that
/// everything has changed.
const KEPT: usize = 1024;

/// Pause before a lost connection is opened again.
const PAUSE: Duration = Duration::from_millis(500);

/// Interval at which this node notifies itself, and the time within which it must receive that. A
/// listener is not told that its connection is dead.
const BEAT_EVERY: Duration = Duration::from_secs(2);
const BEAT_MAX: Duration = Duration::from_secs(2);

/// A change of data that nodes may have cached. Includes this node's own changes. A receiver that
/// lags has missed some, and treats that as [`ChangeNotice::All`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeNotice {
    Key(KeyId),
    /// Its tier, its frozen state, or the wallets that spend its balance.
    Owner(OwnerId),
    /// There may be new jobs.
    Jobs,
    Settings,
    /// Another node needs to become this owner's home: the node that has the lease releases it.
    Recall {
        owner: OwnerId,
    },
    /// Anything may have changed: the connection was lost for a while.
    All,
    /// No change; all earlier changes have been delivered before this.
    Beat,
}

impl ChangeNotice {
    pub(crate) fn payload(self) -> String {
        match self {
            ChangeNotice::Key(key) => format!("key {}", key.0),
            ChangeNotice::Owner(owner) => format!("owner {}", owner.0),
            ChangeNotice::Jobs => "jobs".to_owned(),
            ChangeNotice::Settings => "settings".to_owned(),
            ChangeNotice::Recall { owner } => format!("recall {}", owner.0),
            ChangeNotice::All => "all".to_owned(),
            ChangeNotice::Beat => "beat".to_owned(),
        }
    }

    /// Parses a payload. An unknown one, from a later release, counts as `ChangeNotice::All`.
    pub(crate) fn parse(payload: &str) -> ChangeNotice {
        let (kind, id) = payload.split_once(' ').unwrap_or((payload, ""));
        let id = Uuid::try_parse(id).ok();
        match (kind, id) {
            ("key", Some(id)) => ChangeNotice::Key(KeyId(id)),
            ("owner", Some(id)) => ChangeNotice::Owner(OwnerId(id)),
            ("recall", Some(id)) => ChangeNotice::Recall { owner: OwnerId(id) },
            ("jobs", None) => ChangeNotice::Jobs,
            ("settings", None) => ChangeNotice::Settings,
            ("beat", None) => ChangeNotice::Beat,
            _ => ChangeNotice::All,
        }
    }
}

pub(crate) fn create_channel() -> broadcast::Sender<ChangeNotice> {
    broadcast::channel(KEPT).0
}

/// Listens until `stop`. `ready` is cancelled once it listens for the first time.
pub(crate) async fn listen_for_changes(
    connector: PostgresConnector,
    changes: broadcast::Sender<ChangeNotice>,
    ready: CancellationToken,
    stop: CancellationToken,
) {
    // After a panic this runs again, and notifications in between are lost.
    let mut is_again = ready.is_cancelled();
    while !stop.is_cancelled() {
        let (told, beats) = (changes.clone(), Arc::new(Notify::new()));
        let beaten = Arc::clone(&beats);
        let heard = Box::new(move |notification: tokio_postgres::Notification| {
            let change = ChangeNotice::parse(notification.payload());
            // There may be no receiver.
            let _ = told.send(change);
            if change == ChangeNotice::Beat {
                beaten.notify_one();
            }
        });
        if let Ok(session) = connector.connect_listening(ConnectionPurpose::Listen, heard).await
            && let Ok(Ok(channel)) = timeout(BEAT_MAX, subscribe_channels(&session)).await
        {
            if is_again {
                let _ = changes.send(ChangeNotice::All);
            }
            is_again = true;
            ready.cancel();
            tokio::select! {
                () = stop.cancelled() => return,
                () = run_heartbeat(&session, &channel, &beats) => {}
            }
            tracing::warn!("changes by other nodes were not heard for a moment: connecting again");
        }
        sleep_or_stop(&stop).await;
    }
}

/// Listens to the channel of all nodes, and to one of this connection, whose name is returned:
/// other nodes need not receive its beats.
async fn subscribe_channels(session: &PostgresSession) -> Result<String, PgError> {
    let row = session.single_row("SELECT pg_backend_pid()", &[]).await?;
    let channel = format!("{CHANNEL}_beat_{}", read_column::<i32>(&row, 0)?);
    session.run(&format!("LISTEN {CHANNEL}; LISTEN {channel}")).await?;
    Ok(channel)
}

/// Ends when a notification that this node sends itself does not arrive in time.
async fn run_heartbeat(session: &PostgresSession, channel: &str, beats: &Notify) {
    let beat = format!("NOTIFY {channel}, '{}'", ChangeNotice::Beat.payload());
    loop {
        let sent_and_heard = async {
            session.run(&beat).await?;
            beats.notified().await;
            Ok::<(), PgError>(())
        };
        if !matches!(timeout(BEAT_MAX, sent_and_heard).await, Ok(Ok(()))) {
            return;
        }
        let next = Instant::now() + BEAT_EVERY;
        while Instant::now() < next {
            tokio::time::sleep(PAUSE).await;
            if !session.is_reusable() {
                return;
            }
        }
    }
}

async fn sleep_or_stop(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(PAUSE) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_told_and_an_unknown_one_may_be_anything() {
        let id = Uuid::from_u128(7);
        let (key, owner) = (KeyId(id), OwnerId(id));
        let all = [
            ChangeNotice::Key(key),
            ChangeNotice::Owner(owner),
            ChangeNotice::Jobs,
            ChangeNotice::Settings,
            ChangeNotice::Recall { owner },
            ChangeNotice::All,
            ChangeNotice::Beat,
        ];
        for change in all {
            assert_eq!(ChangeNotice::parse(&change.payload()), change);
        }
        for unknown in ["", "key", "key 7", "prices"] {
            assert_eq!(ChangeNotice::parse(unknown), ChangeNotice::All, "{unknown:?}");
        }
    }
}
