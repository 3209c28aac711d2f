//! Connection timeouts, the same for all listeners.

use std::time::Duration;

/// Deadlines for what a client does. Handlers have their own deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionTimeouts {
    /// From the connection, or the end of the last response, to the end of the headers.
    pub header: Duration,
    /// For an HTTP/2 connection without any request in progress.
    pub idle: Duration,
    /// For a client that accepts none of the bytes ready for it.
    pub send: Duration,
}

impl Default for ConnectionTimeouts {
    fn default() -> ConnectionTimeouts {
        ConnectionTimeouts {
            header: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            send: Duration::from_secs(30),
        }
    }
}
