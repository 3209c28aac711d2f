//! Counts response bytes that HTTP/2 peers have not accepted, per connection and per address.
//!
//! A peer decides how much of each stream it accepts, and a response stays in memory until then.
//! With too many bytes waiting, further requests of the peer are delayed, not refused: a slow
//! reader with many streams is served at the speed at which it reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Unaccepted bytes of one connection at which further requests wait.
const CONNECTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The same, summed over all connections of one address.
const ADDRESS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A sum of unaccepted bytes and its limit. Requests start while it is below the limit.
#[derive(Debug)]
pub(super) struct UnsentBytes {
    bytes: AtomicUsize,
    bytes_max: usize,
    /// Wakes one waiting request when the sum falls below the limit. Each request that starts wakes
    /// the next, so that a wake-up costs the same whatever the number of waiters.
    below_max: Notify,
}

impl UnsentBytes {
    pub(super) fn of_address() -> Arc<UnsentBytes> {
        UnsentBytes::new(ADDRESS_BYTES_MAX)
    }

    fn new(bytes_max: usize) -> Arc<UnsentBytes> {
        Arc::new(UnsentBytes { bytes: AtomicUsize::new(0), bytes_max, below_max: Notify::new() })
    }

    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    fn subtract(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        if self.bytes_max <= before && before - bytes < self.bytes_max {
            self.below_max.notify_one();
        }
    }

    fn is_full(&self) -> bool {
        self.bytes_max <= self.bytes.load(Ordering::Acquire)
    }

    async fn wait_below_max(&self) {
        if !self.is_full() {
            return;
        }
        while self.is_full() {
            self.below_max.notified().await;
        }
        self.below_max.notify_one();
    }
}

/// The sums that one connection counts in: its own and its address's.
#[derive(Debug, Clone)]
pub(super) struct ConnectionUnsent {
    connection: Arc<UnsentBytes>,
    /// None for addresses without a limit, such as proxies.
    address: Option<Arc<UnsentBytes>>,
}

impl ConnectionUnsent {
    pub(super) fn new(address: Option<Arc<UnsentBytes>>) -> ConnectionUnsent {
        ConnectionUnsent { connection: UnsentBytes::new(CONNECTION_BYTES_MAX), address }
    }

    /// Completes when the connection and its address are both below their limits.
    pub(super) async fn wait_below_max(&self) {
        self.connection.wait_below_max().await;
        if let Some(address) = &self.address {
            address.wait_below_max().await;
        }
    }

    /// Counts the bytes of a response until they are accepted or dropped.
    pub(super) fn count(&self, bytes: usize) -> UnsentResponse {
        for tally in self.tallies() {
            tally.add(bytes);
        }
        UnsentResponse { sums: self.clone(), bytes }
    }

    fn tallies(&self) -> impl Iterator<Item = &UnsentBytes> {
        std::iter::once(&*self.connection).chain(self.address.as_deref())
    }
}

/// The bytes of one response in the sums, subtracted on drop.
#[derive(Debug)]
pub(super) struct UnsentResponse {
    sums: ConnectionUnsent,
    bytes: usize,
}

impl UnsentResponse {
    /// Subtracts bytes that were handed to the connection, which buffers one piece at most.
    pub(super) fn subtract(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        if bytes == 0 {
            return;
        }
        self.bytes -= bytes;
        for tally in self.sums.tallies() {
            tally.subtract(bytes);
        }
    }
}

impl Drop for UnsentResponse {
    fn drop(&mut self) {
        self.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn begins(unsent: &ConnectionUnsent) -> bool {
        unsent.wait_below_max().now_or_never().is_some()
    }

    #[test]
    fn requests_wait_while_their_connection_has_its_bytes_unsent() {
        let unsent = ConnectionUnsent::new(None);
        let mut first = unsent.count(CONNECTION_BYTES_MAX);
        assert!(!begins(&unsent));
        assert!(begins(&ConnectionUnsent::new(None)), "another connection is not held up");
        first.subtract(1);
        assert!(begins(&unsent));
        let _second = unsent.count(1);
        assert!(!begins(&unsent));
        drop(first);
        assert!(begins(&unsent));
    }

    #[test]
    fn connections_of_one_address_are_counted_together() {
        let address = UnsentBytes::of_address();
        let connections: Vec<ConnectionUnsent> =
            (0..9).map(|_| ConnectionUnsent::new(Some(Arc::clone(&address)))).collect();
        let counted: Vec<UnsentResponse> =
            connections[..8].iter().map(|it| it.count(CONNECTION_BYTES_MAX)).collect();
        assert!(!begins(&connections[8]), "its own connection has nothing unsent");
        drop(counted);
        assert!(begins(&connections[8]));
        assert_eq!(address.bytes.load(Ordering::Acquire), 0);
    }

    #[tokio::test]
    async fn all_that_wait_begin_one_after_the_other_while_there_is_room() {
        let unsent = ConnectionUnsent::new(None);
        let held = unsent.count(CONNECTION_BYTES_MAX);
        let begun = std::cell::Cell::new(0);
        let waiting = (0..5).map(|_| async {
            unsent.wait_below_max().await;
            begun.set(begun.get() + 1);
            // Two of these reach the limit.
            std::mem::forget(unsent.count(CONNECTION_BYTES_MAX / 2));
        });
        let mut waiting = Box::pin(futures_util::future::join_all(waiting));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(begun.get(), 0);
        drop(held);
        assert!((&mut waiting).now_or_never().is_none(), "the others wait on");
        assert_eq!(begun.get(), 2);
    }

    #[tokio::test]
    async fn a_request_that_waits_begins_when_bytes_are_accepted() {
        let unsent = ConnectionUnsent::new(Some(UnsentBytes::of_address()));
        let held = unsent.count(CONNECTION_BYTES_MAX);
        let free = async { drop(held) };
        tokio::join!(unsent.wait_below_max(), free);
    }
}
