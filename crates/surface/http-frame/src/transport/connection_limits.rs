//! Counts connections by client address and bounds them, so that one address cannot use up all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::unsent_bytes::UnsentBytes;
use crate::origin;

/// Connection counts of all addresses.
pub struct ConnectionLimits {
    each_max: usize,
    /// True for addresses without a bound: a proxy's connections belong to many clients.
    is_excepted: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// Never held across an await.
    counts: Mutex<HashMap<IpAddr, AddressCount>>,
}

/// The connections of one address, and the response bytes that it has not accepted yet.
struct AddressCount {
    connections: usize,
    unsent: Arc<UnsentBytes>,
}

/// One counted connection of an address, subtracted on drop.
pub struct AddressSlot(Option<CountedAddress>);

struct CountedAddress {
    addresses: Arc<ConnectionLimits>,
    network: IpAddr,
    unsent: Arc<UnsentBytes>,
}

impl ConnectionLimits {
    pub fn new(
        each_max: usize,
        is_excepted: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    ) -> Arc<ConnectionLimits> {
        Arc::new(ConnectionLimits { each_max, is_excepted, counts: Mutex::default() })
    }

    /// Without a bound, for listeners that only the operator reaches.
    pub fn unbounded() -> Arc<ConnectionLimits> {
        ConnectionLimits::new(usize::MAX, Arc::new(|_| true))
    }

    /// Counts a connection from this address. None if the address already has the maximum.
    pub(super) fn admit_connection(
        self: &Arc<ConnectionLimits>,
        address: IpAddr,
    ) -> Option<AddressSlot> {
        let address = address.to_canonical();
        if (self.is_excepted)(address) {
            return Some(AddressSlot(None));
        }
        let network = origin::mask_to_network(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts
            .entry(network)
            .or_insert_with(|| AddressCount { connections: 0, unsent: UnsentBytes::of_address() });
        if self.each_max <= count.connections {
            return None;
        }
        count.connections += 1;
        let (addresses, unsent) = (Arc::clone(self), Arc::clone(&count.unsent));
        Some(AddressSlot(Some(CountedAddress { addresses, network, unsent })))
    }
}

impl AddressSlot {
    /// The unsent bytes of the address; None if the address has no bound.
    pub(super) fn unsent(&self) -> Option<Arc<UnsentBytes>> {
        self.0.as_ref().map(|counted| Arc::clone(&counted.unsent))
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let Some(CountedAddress { addresses, network, .. }) = self.0.take() else { return };
        let mut counts = addresses.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&network) {
            count.connections -= 1;
            if count.connections == 0 {
                counts.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_places_a_household_has_one_address_and_proxies_have_no_bound() {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let addresses = ConnectionLimits::new(2, Arc::new(move |it| it == proxy));
        let place = |text: &str| addresses.admit_connection(text.parse().unwrap());
        let first = place("9.9.9.9").unwrap();
        let _second = place("::ffff:9.9.9.9").unwrap();
        assert!(place("9.9.9.9").is_none());
        assert!(place("9.9.9.8").is_some());
        drop(first);
        assert!(place("9.9.9.9").is_some());
        let _household = [place("2001:db8::1").unwrap(), place("2001:db8::2").unwrap()];
        assert!(place("2001:db8::3").is_none());
        let _proxied: Vec<_> = (0..5).map(|_| place("10.0.0.1").unwrap()).collect();
    }
}
