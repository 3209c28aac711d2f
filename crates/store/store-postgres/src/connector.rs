//! Opens connections, each driven by a task of the store's own runtime.

use store::error::StoreError;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Config, Connection, NoTls, Notification};

use crate::error::{PgError, not_connected};
use crate::options::{CONNECT_TIMEOUT, DatabaseTarget};
use crate::session::PostgresSession;
use crate::tls::{TlsFactory, create_tls_factory};

/// Settings of every connection that takes locks. The transaction of a process that hangs, or is
/// cut off by the network, is ended well before the lease of its node expires, so that a node that
/// takes over does not wait for it; and no transaction waits long for the lock of another.
const LOCKING: &str = "SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '2s'; \
    SET statement_timeout = '8s'; SET tcp_user_timeout = '5s'";

/// Settings of a connection that migrates the schema or imports: its statements take long, and it
/// waits for others that do the same.
const MIGRATING: &str = "SET idle_in_transaction_session_timeout = '10s'; \
    SET tcp_user_timeout = '10s'";

/// Settings of a connection that writes. Its statements use an index, whatever the statistics say
/// of a table that has just grown; and acknowledged writes are on disk.
const WRITING: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; \
    SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; \
    SELECT set_config('synchronous_commit', 'on', FALSE) \
    WHERE current_setting('synchronous_commit') = 'off'";

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionPurpose {
    Write,
    Read,
    /// Extends the lease of this node.
    Lease,
    /// Takes and releases the leases of owners.
    Own,
    Listen,
    /// Checks that the database answers.
    Pulse,
    Migrate,
}

impl ConnectionPurpose {
    fn name(self) -> &'static str {
        match self {
            ConnectionPurpose::Write => "write",
            ConnectionPurpose::Read => "read",
            ConnectionPurpose::Lease => "lease",
            ConnectionPurpose::Own => "own",
            ConnectionPurpose::Listen => "listen",
            ConnectionPurpose::Pulse => "pulse",
            ConnectionPurpose::Migrate => "migrate",
        }
    }

    /// The settings of its sessions.
    fn settings(self) -> &'static [&'static str] {
        match self {
            ConnectionPurpose::Write => &[LOCKING, WRITING],
            ConnectionPurpose::Lease | ConnectionPurpose::Own => &[LOCKING],
            ConnectionPurpose::Migrate => &[MIGRATING],
            ConnectionPurpose::Read | ConnectionPurpose::Listen | ConnectionPurpose::Pulse => &[],
        }
    }
}

/// Receives the notifications of the server.
pub(crate) type OnNotification = Box<dyn FnMut(Notification) + Send>;

#[derive(Clone)]
pub(crate) struct PostgresConnector {
    config: Config,
    encryption: Option<TlsFactory>,
    node_name: String,
    runtime: Handle,
}

impl PostgresConnector {
    pub(crate) fn new(
        target: DatabaseTarget,
        node_name: &str,
        runtime: Handle,
    ) -> Result<PostgresConnector, StoreError> {
        let encryption = create_tls_factory(&target.trust)?;
        Ok(PostgresConnector {
            config: target.config,
            encryption,
            node_name: node_name.to_owned(),
            runtime,
        })
    }

    pub(crate) async fn connect(
        &self,
        purpose: ConnectionPurpose,
    ) -> Result<PostgresSession, PgError> {
        self.connect_listening(purpose, Box::new(|_| {})).await
    }

    /// Connects on the store's own runtime: a socket dies with the runtime that it was opened on,
    /// and the caller's may end before the store does. The timeout includes the handshake: a server
    /// behind a network that drops everything accepts the connection and never greets.
    pub(crate) async fn connect_listening(
        &self,
        purpose: ConnectionPurpose,
        heard: OnNotification,
    ) -> Result<PostgresSession, PgError> {
        let connector = self.clone();
        let limit = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        let dialled = async move { timeout(limit, connector.open_session(purpose, heard)).await };
        let connected = self.runtime.spawn(dialled).await;
        let connected = connected.map_err(|error| PgError::Lost(error.to_string()))?;
        connected
            .unwrap_or_else(|_| Err(PgError::Lost("it cannot be connected to in time".to_owned())))
    }

    async fn open_session(
        mut self,
        purpose: ConnectionPurpose,
        heard: OnNotification,
    ) -> Result<PostgresSession, PgError> {
        let application = format!("tollgate {} {}", self.node_name, purpose.name());
        self.config.application_name(application);
        let client = match self.encryption.take() {
            Some(encryption) => {
                let connected = self.config.connect(encryption).await;
                let (client, connection) = connected.map_err(|error| not_connected(&error))?;
                self.runtime.spawn(drive_connection(connection, heard));
                client
            }
            None => {
                let connected = self.config.connect(NoTls).await;
                let (client, connection) = connected.map_err(|error| not_connected(&error))?;
                self.runtime.spawn(drive_connection(connection, heard));
                client
            }
        };
        let session = PostgresSession::new(client);
        for settings in purpose.settings() {
            session.run(settings).await?;
        }
        Ok(session)
    }
}

/// Drives a connection until it ends.
async fn drive_connection<S, T>(mut connection: Connection<S, T>, mut heard: OnNotification)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        match std::future::poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(notification))) => heard(notification),
            Some(Ok(AsyncMessage::Notice(notice))) => {
                tracing::debug!("the database says: {}", notice.message());
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection to the database ended: {error}");
                return;
            }
            None => return,
        }
    }
}
