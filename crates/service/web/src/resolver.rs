//! Resolves host names.

use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sandbox::CallerId;
use tokio::time::timeout;

use crate::caller_permits::{CallerPermits, PermitLimits};

/// The system's resolver cannot be cancelled, and callers choose the names: a silent name server
/// blocks a thread for half a minute. So each caller may use only a few threads.
const TURN_LIMITS: PermitLimits =
    PermitLimits { all_max: 64, each_max: 4, wait_max: Duration::from_secs(1) };
/// Timeout of a lookup, from its start.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(3);
/// The resolver requires a port and returns it unchanged.
const ANY_PORT: u16 = 443;

/// The reason why a name was not resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The name does not exist, or its name servers do not answer.
    #[error("the name could not be looked up")]
    NotFound,
    /// Other callers use all available lookups.
    #[error("too many names are being looked up")]
    Busy,
}

/// A future of the addresses of a name.
pub type LookupFuture<'a> = BoxFuture<'a, Result<Vec<IpAddr>, LookupError>>;

pub trait NameResolver: Send + Sync {
    /// Returns every address of a name. `caller` is `None` for the service's own lookups.
    fn resolve_addresses<'a>(&'a self, name: &'a str, caller: Option<CallerId>)
    -> LookupFuture<'a>;
}

/// The system's resolver.
pub struct SystemResolver {
    turns: CallerPermits,
    resolve: ResolveFn,
}

/// Resolves a name; blocks the thread.
type ResolveFn = fn(&str) -> Vec<IpAddr>;

impl Default for SystemResolver {
    fn default() -> SystemResolver {
        SystemResolver { turns: CallerPermits::new(TURN_LIMITS), resolve: resolve_by_system }
    }
}

impl NameResolver for SystemResolver {
    fn resolve_addresses<'a>(
        &'a self,
        name: &'a str,
        caller: Option<CallerId>,
    ) -> LookupFuture<'a> {
        Box::pin(async move {
            let turn = self.turns.take(caller).await.map_err(|_| LookupError::Busy)?;
            let (name, resolve) = (name.to_owned(), self.resolve);
            let lookup = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                resolve(&name)
            });
            let found = timeout(LOOKUP_TIME_MAX, lookup).await;
            let found = found.ok().and_then(Result::ok).filter(|found| !found.is_empty());
            found.ok_or(LookupError::NotFound)
        })
    }
}

fn resolve_by_system(name: &str) -> Vec<IpAddr> {
    let found = (name, ANY_PORT).to_socket_addrs();
    found.map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    //! Tests with a name that every machine knows, and with a name server that never answers.

    use std::sync::{Condvar, Mutex};

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn this_machine_knows_its_own_name_and_not_every_other() {
        let names = SystemResolver::default();
        let found =
            names.resolve_addresses("localhost", None).await.expect("it is in the hosts file");
        assert!(!found.is_empty());
        assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
        let unknown = names.resolve_addresses("nowhere.invalid", None).await;
        assert_eq!(unknown, Err(LookupError::NotFound));
    }

    /// Lookups of silent names return when the test is over.
    static TEST_OVER: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

    fn resolve_unless_silent(name: &str) -> Vec<IpAddr> {
        if name.starts_with("silent") {
            let (over, told) = &TEST_OVER;
            let over = told.wait_while(over.lock().unwrap(), |over| !*over);
            drop(over);
            return Vec::new();
        }
        vec![IpAddr::from([93, 184, 216, 34])]
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_of_silent_name_servers_fails_alone() {
        let turns = CallerPermits::new(TURN_LIMITS);
        let names = SystemResolver { turns, resolve: resolve_unless_silent };
        let attacker = Some(CallerId(1));
        let silent = (0..40).map(|_| names.resolve_addresses("silent.example.com", attacker));
        let mut silent = futures_util::future::join_all(silent);
        let is_silent = (&mut silent).now_or_never().is_none();
        let found = names.resolve_addresses("www.example.com", Some(CallerId(2))).await;
        let (over, told) = &TEST_OVER;
        *over.lock().unwrap() = true;
        told.notify_all();
        assert!(is_silent);
        assert_eq!(found.map(|found| found.len()), Ok(1));
    }
}
