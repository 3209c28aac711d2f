//! Closes a listener without dropping an established connection.
//!
//! A client that has connected will send a request and must get a response: a proxy cannot know
//! that we are stopping, and may not retry elsewhere a request that we may have read. So the kernel
//! drops SYNs before the listener is closed; established connections are accepted and served for
//! [`LINGER`], and each response has `connection: close`.

use std::sync::Arc;
use std::time::Duration;

use socket2::{SockFilter, SockRef};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Time that idle connections are still served after the stop.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Time in which a handshake that has begun completes within a data centre.
pub(super) const HANDSHAKE_MAX: Duration = Duration::from_millis(50);

/// Makes the kernel drop new SYNs while handshakes that have begun complete. A client repeats its
/// SYN after a second and is then refused by the closed port, so a proxy tries another server. If
/// the kernel cannot attach the filter, connections made at the moment of closing may be lost.
pub(super) fn drop_new_syns(listener: &TcpListener) {
    if let Err(error) = SockRef::from(listener).attach_filter(&syn_filter()) {
        tracing::debug!(%error, "connections may be lost while the listener closes: {error}");
    }
}

/// A classic BPF program that drops packets with SYN and without ACK. The kernel runs it on packets
/// from their TCP header on.
fn syn_filter() -> [SockFilter; 5] {
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

/// Completes when all connections have ended, after [`LINGER`] at the latest.
pub(super) async fn wait_for_connections(connections: &Arc<Semaphore>, connections_max: u32) {
    let all = connections.acquire_many(connections_max);
    let _ = tokio::time::timeout(LINGER, all).await;
}
