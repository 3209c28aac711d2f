//! The deadlines of connections, of all listeners alike.

use std::time::Duration;

/// The time a client has for each of its own acts. Handlers have deadlines of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionTimeouts {
    /// From the connection, or from the end of the response before, to the end of the headers.
    pub header: Duration,
    /// Without any request under way on an HTTP/2 connection.
    pub idle: Duration,
    /// Without accepting bytes that are ready for it.
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
