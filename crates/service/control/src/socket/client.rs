//! The client side of the socket, used by commands.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::{ANSWER_BYTES_MAX, SocketReply};
use crate::operation::{ControlOperation, OperationError};
use crate::reply::ControlReply;

/// Verifying a long journal takes minutes; a hung service would never answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// A connection factory to a running service. Each operation uses its own connection, because a
/// person may read a long reply between two operations and the service closes idle connections.
#[derive(Debug)]
pub struct SocketClient {
    socket: PathBuf,
}

/// The reason why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The connection broke or the reply was invalid; the operation may have been performed.
    #[error("the service did not answer: {0}")]
    Broken(String),
}

impl SocketClient {
    /// Connects to the service; `None` if no service is running.
    pub async fn connect(socket: &Path) -> std::io::Result<Option<SocketClient>> {
        match UnixStream::connect(socket).await {
            Ok(_) => Ok(Some(SocketClient { socket: socket.to_owned() })),
            // A socket without a listener was left by a crash.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub async fn perform(&self, operation: &ControlOperation) -> Result<ControlReply, SocketError> {
        let exchange = tokio::time::timeout(ANSWER_TIMEOUT, self.exchange_line(operation)).await;
        let Ok(line) = exchange else {
            let waited_s = ANSWER_TIMEOUT.as_secs();
            return Err(SocketError::Broken(format!("no answer within {waited_s} seconds")));
        };
        let line = line.map_err(|error| SocketError::Broken(error.to_string()))?;
        match serde_json::from_slice(&line) {
            Ok(SocketReply::Done(reply)) => Ok(*reply),
            Ok(SocketReply::Error(error)) => Err(error.into()),
            Err(error) => {
                let advice = "restart it if it has another version";
                Err(SocketError::Broken(format!("its answer cannot be read ({error}); {advice}")))
            }
        }
    }

    async fn exchange_line(&self, operation: &ControlOperation) -> std::io::Result<Vec<u8>> {
        let mut request = serde_json::to_vec(operation)?;
        request.push(b'\n');
        let mut stream = UnixStream::connect(&self.socket).await?;
        stream.write_all(&request).await?;
        let mut line = Vec::new();
        BufReader::new(stream).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(std::io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection"));
        }
        Ok(line)
    }
}
