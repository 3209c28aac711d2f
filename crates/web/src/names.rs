//! Looks up names.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

/// The system's own lookup cannot be stopped once it has begun, and callers choose the names.
const LOOKUPS_AT_ONCE: usize = 32;
/// The lookup wants a port, and gives it back unchanged.
const ANY_PORT: u16 = 443;

pub trait Names: Send + Sync {
    /// Every address that a name stands for.
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Names looked up as this machine's other programs do.
pub struct SystemNames {
    turns: Arc<Semaphore>,
}

impl Default for SystemNames {
    fn default() -> SystemNames {
        SystemNames { turns: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)) }
    }
}

impl Names for SystemNames {
    fn addresses<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let found = (name.as_str(), ANY_PORT).to_socket_addrs()?;
                Ok(found.map(|address| address.ip()).collect())
            });
            lookup.await.map_err(io::Error::other)?
        })
    }
}

#[cfg(test)]
mod tests {
    //! A name that every machine knows.

    use super::*;

    #[tokio::test]
    async fn this_machine_knows_its_own_name_and_not_every_other() {
        let names = SystemNames::default();
        let found = names.addresses("localhost").await.expect("it is in the hosts file");
        assert!(!found.is_empty());
        assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(names.addresses("nowhere.invalid").await.is_err());
        assert_eq!(names.turns.available_permits(), LOOKUPS_AT_ONCE, "every turn is given back");
    }
}
