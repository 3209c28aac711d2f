//! Closes a listener without dropping a connection that was established.
//!
//! A client that has connected will send a request and must get an answer: a proxy cannot know that
//! we are stopping, and may not send elsewhere what we may have read. So the kernel drops
//! requests for new connections before the listener is closed, the established ones are accepted,
//! and they are served for a while, each answer announcing that it is the last.

use std::sync::Arc;
use std::time::Duration;

use socket2::{SockFilter, SockRef};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long connections that carry no request are served after the stop.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// The last step of a handshake that has begun comes within this time, in a machine room.
pub(super) const HANDSHAKE_MAX: Duration = Duration::from_millis(50);

/// From now on the kernel drops what asks for a new connection, and lets handshakes that have begun
/// end. The client repeats its SYN a second later and is refused by then, upon which a proxy
/// tries another server. Where the kernel cannot do that, a connection that is made in the moment
/// of closing may be lost.
pub(super) fn turn_new_ones_away(listener: &TcpListener) {
    if let Err(error) = SockRef::from(listener).attach_filter(&without_new_connections()) {
        tracing::debug!(%error, "connections may be lost while the listener closes: {error}");
    }
}

/// A program of the kernel's packet filter, which sees packets from their TCP header on: those that
/// begin a connection have SYN without ACK.
fn without_new_connections() -> [SockFilter; 5] {
    const FLAGS_AT: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    [
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_AT),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ]
}

/// Ends when all connections have, and after [`LINGER`] at the latest.
pub(super) async fn linger(connections: &Arc<Semaphore>, connections_max: u32) {
    let all = connections.acquire_many(connections_max);
    let _ = tokio::time::timeout(LINGER, all).await;
}
