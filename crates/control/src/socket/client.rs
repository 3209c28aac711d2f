//! The command's end of the socket.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::{ANSWER_BYTES_MAX, Answer};
use crate::operation::{Operation, OperationError};
use crate::reply::Reply;

/// Verifying a long journal takes minutes; a service that is stuck takes for ever.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// An open line to a running service.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The service went away or talks nonsense; whether it did what was asked is not known.
    #[error("the service did not answer: {0}")]
    Broken(String),
}

impl Client {
    /// Connects, or finds that no service is running there.
    pub async fn connect(socket: &Path) -> std::io::Result<Option<Client>> {
        match UnixStream::connect(socket).await {
            Ok(stream) => Ok(Some(Client { stream: BufReader::new(stream) })),
            // A socket that nobody listens on was left behind by a crash.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub async fn perform(&mut self, operation: &Operation) -> Result<Reply, Unanswered> {
        let exchange = tokio::time::timeout(ANSWER_TIMEOUT, self.exchange(operation)).await;
        let Ok(line) = exchange else {
            let waited_s = ANSWER_TIMEOUT.as_secs();
            return Err(Unanswered::Broken(format!("nothing came within {waited_s} seconds")));
        };
        let line = line.map_err(|error| Unanswered::Broken(error.to_string()))?;
        match serde_json::from_slice(&line) {
            Ok(Answer::Done(reply)) => Ok(*reply),
            Ok(Answer::Error(error)) => Err(error.into()),
            Err(error) => {
                let advice = "is it of another version? restart it";
                Err(Unanswered::Broken(format!("its answer makes no sense ({error}); {advice}")))
            }
        }
    }

    async fn exchange(&mut self, operation: &Operation) -> std::io::Result<Vec<u8>> {
        let mut request = serde_json::to_vec(operation)?;
        request.push(b'\n');
        self.stream.write_all(&request).await?;
        self.stream.flush().await?;
        let mut line = Vec::new();
        (&mut self.stream).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(std::io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection"));
        }
        Ok(line)
    }
}
