//! The server side of the socket.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ancestry::descends_from;
use super::{OPERATION_BYTES_MAX, SocketReply};
use crate::actor::AuditActor;
use crate::operation::{ControlOperation, OperationError};
use crate::service::ControlService;

/// Concurrent connections; more wait to be accepted.
const CONNECTIONS_MAX: usize = 16;
/// Timeout for idle connections.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A bound socket, whose file is removed on drop.
#[derive(Debug)]
pub struct SocketServer {
    listener: UnixListener,
    path: PathBuf,
}

impl SocketServer {
    /// Binds the socket so that only this user can ever open it.
    ///
    /// The caller owns the database, so an existing socket file was left by a crash.
    pub fn bind(path: &Path) -> io::Result<SocketServer> {
        // Bound in a private folder and moved after its mode is set: between binding and changing
        // its mode, a socket would otherwise be open to every user with access to the directory.
        let private = path.with_extension("private");
        let _ = fs::remove_dir_all(&private);
        fs::DirBuilder::new().mode(0o700).create(&private)?;
        let inside = private.join("s");
        let bound = UnixListener::bind(&inside).and_then(|listener| {
            fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
            fs::rename(&inside, path)?;
            Ok(listener)
        });
        fs::remove_dir_all(&private)?;
        Ok(SocketServer { listener: bound?, path: path.to_owned() })
    }

    /// Serves connections until `stop`.
    pub async fn serve(
        self: Arc<SocketServer>,
        service: Arc<ControlService>,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => return,
                accepted = accept_connection(&self.listener, &places) => accepted,
            };
            let (stream, place) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "the control socket could not accept: {error}");
                    // Most likely out of file descriptors: accepting again at once would be a busy
                    // loop.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let service = Arc::clone(&service);
            let stop = stop.clone();
            tasks.spawn(async move {
                let _place = place;
                tokio::select! {
                    () = stop.cancelled() => {}
                    ended = serve_connection(stream, &service) => {
                        if let Err(error) = ended {
                            tracing::debug!(%error, "a control connection ended: {error}");
                        }
                    }
                }
            });
        }
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        // An error means that the file is already gone.
        let _ = fs::remove_file(&self.path);
    }
}

async fn accept_connection(
    listener: &UnixListener,
    places: &Arc<Semaphore>,
) -> io::Result<(UnixStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    if let Some(peer) = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok())
        && peer != 0
        && descends_from(peer, std::process::id())
    {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the process {peer} was started by this service"),
        ));
    }
    Ok((stream, place))
}

async fn serve_connection(stream: UnixStream, service: &ControlService) -> io::Result<()> {
    let by = AuditActor::with_uid(stream.peer_cred()?.uid());
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let mut bounded = (&mut stream).take(OPERATION_BYTES_MAX);
        let read = tokio::time::timeout(IDLE_TIMEOUT, bounded.read_until(b'\n', &mut line));
        let count = read.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if count == 0 {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            // Too long or cut off: the start of the next operation cannot be found.
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let answer = match serde_json::from_slice::<ControlOperation>(&line) {
            Ok(operation) => service.perform(&by, operation).await.into(),
            Err(error) => SocketReply::Error(OperationError::Refused(format!(
                "the service does not know this operation ({error}); it may have another version"
            ))),
        };
        let mut answer = serde_json::to_vec(&answer)?;
        answer.push(b'\n');
        tokio::time::timeout(IDLE_TIMEOUT, stream.write_all(&answer))
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        stream.flush().await?;
    }
}
