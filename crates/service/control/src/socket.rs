//! The Unix socket in the data directory: one JSON operation per line, one JSON reply per line.

mod ancestry;
pub mod client;
pub mod server;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::operation::OperationError;
use crate::reply::ControlReply;

/// Maximum size of an operation: a character with its portrait, in base64.
const OPERATION_BYTES_MAX: u64 = 24 * 1024 * 1024;
/// Maximum size of a reply: a page of the journal, or the keys of every account.
const ANSWER_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The socket's path in a data directory.
pub fn socket_path(data_dir: &Path) -> PathBuf {
    data_dir.join("tollgate.sock")
}

/// The reply to an operation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketReply {
    Done(Box<ControlReply>),
    Error(OperationError),
}

impl From<Result<ControlReply, OperationError>> for SocketReply {
    fn from(performed: Result<ControlReply, OperationError>) -> SocketReply {
        match performed {
            Ok(reply) => SocketReply::Done(Box::new(reply)),
            Err(error) => SocketReply::Error(error),
        }
    }
}
