//! Checks the hosts of images, videos and files that engines are asked to fetch.
//!
//! Engines fetch from inside the operator's network, so a name is resolved here first, and one that
//! resolves to a private address is refused. That is no full protection: the owner of the name's
//! DNS server can answer the engine differently a moment later, so an engine that fetches needs a
//! network that restricts what it can reach.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::web::{LookupError, NameResolver};
use domain::media;
use futures_util::{StreamExt, stream};
use moment::Timestamp;
use sandbox::CallerId;
use tokio::time::{Instant, timeout_at};

use crate::refusal::Refusal;

/// For all lookups of a request: a second of queueing, and three for the answer.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);
/// Concurrent lookups of one request.
const LOOKUPS_AT_ONCE: usize = 8;
/// Different hosts of one request that need a lookup.
const HOSTS_MAX: usize = 32;
/// Cache lifetime: the time that cautious name servers allow.
const CACHE_LIFETIME: Duration = Duration::from_secs(30);
const KNOWN_MAX: usize = 4_096;
const BUSY: &str = "Too many host names are being looked up. Please try again shortly.";

/// The hosts that engines may fetch from.
pub struct HostPolicy {
    /// The allowed domains, in lower case; empty allows any.
    domains: Vec<String>,
    /// None: names are not resolved, and count as public.
    names: Option<Arc<dyn NameResolver>>,
    /// Never held across an await.
    known: Mutex<HashMap<String, (Timestamp, HostVerdict)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostVerdict {
    Public,
    Private,
    Unknown,
    NotListed,
    TooMany,
    /// The lookup capacity is used up by other callers.
    Busy,
}

/// The results for the hosts of one request.
#[derive(Debug, Default)]
pub struct CheckedHosts(HashMap<String, HostVerdict>);

impl CheckedHosts {
    /// The fault of a URL's host, as a sentence for the caller.
    pub fn fault(&self, address: &str) -> Option<&'static str> {
        match self.0.get(&media::parse_host(address)?)? {
            HostVerdict::Public => None,
            HostVerdict::Private => {
                Some("Its host has an address that is not public; send a data URL instead.")
            }
            HostVerdict::Unknown => {
                Some("Its host could not be looked up; check the name, or send a data URL instead.")
            }
            HostVerdict::NotListed => {
                Some("This service allows files from certain hosts only; send a data URL instead.")
            }
            HostVerdict::TooMany => {
                Some("A request may name at most 32 hosts; send data URLs instead.")
            }
            HostVerdict::Busy => Some(BUSY),
        }
    }
}

impl HostPolicy {
    pub fn new(domains: Vec<String>, names: Option<Arc<dyn NameResolver>>) -> HostPolicy {
        HostPolicy { domains, names, known: Mutex::default() }
    }

    /// Checks the host of every URL among these texts. Refused with 503 if other callers use up the
    /// lookup capacity, which is not this caller's fault.
    pub async fn check_hosts(
        &self,
        texts: impl Iterator<Item = &str>,
        caller: CallerId,
        now: Timestamp,
    ) -> Result<CheckedHosts, Refusal> {
        let mut judged = HashMap::new();
        let mut open = Vec::new();
        for host in texts.filter_map(media::parse_host) {
            if judged.contains_key(&host) {
                continue;
            }
            // Unknown until the lookup.
            let verdict = self.known_verdict(&host, now).unwrap_or_else(|| {
                if HOSTS_MAX <= open.len() {
                    return HostVerdict::TooMany;
                }
                open.push(host.clone());
                HostVerdict::Unknown
            });
            judged.insert(host, verdict);
        }
        if let Some(names) = self.names.as_deref().filter(|_| !open.is_empty()) {
            let deadline = Instant::now() + LOOKUP_TIMEOUT;
            let lookups = open.into_iter().map(|host| look_up(names, host, caller, deadline));
            let mut found = stream::iter(lookups).buffer_unordered(LOOKUPS_AT_ONCE);
            while let Some((host, verdict)) = found.next().await {
                self.cache_verdict(&host, verdict, now);
                judged.insert(host, verdict);
            }
        }
        if judged.values().any(|verdict| *verdict == HostVerdict::Busy) {
            return Err(Refusal::busy(BUSY));
        }
        Ok(CheckedHosts(judged))
    }

    /// The result for a host that needs no lookup.
    fn known_verdict(&self, host: &str, now: Timestamp) -> Option<HostVerdict> {
        let is_listed = |domain: &String| {
            let below = host.strip_suffix(domain.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if !self.domains.is_empty() && !self.domains.iter().any(is_listed) {
            return Some(HostVerdict::NotListed);
        }
        // IP addresses were checked when they were parsed.
        let is_number = host.starts_with('[') || host.parse::<IpAddr>().is_ok();
        if is_number || self.names.is_none() {
            return Some(HostVerdict::Public);
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, verdict) = known.get(host)?;
        (now < *until).then_some(*verdict)
    }

    /// Caches a result. Failed lookups are not cached.
    fn cache_verdict(&self, host: &str, verdict: HostVerdict, now: Timestamp) {
        if matches!(verdict, HostVerdict::Unknown | HostVerdict::Busy) {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if KNOWN_MAX <= known.len() {
            known.retain(|_, (until, _)| now < *until);
        }
        if known.len() < KNOWN_MAX {
            known.insert(host.to_owned(), (now.plus(CACHE_LIFETIME), verdict));
        }
    }
}

/// One private address among several is enough for a refusal: the engine may use any of them.
async fn look_up(
    names: &dyn NameResolver,
    host: String,
    caller: CallerId,
    deadline: Instant,
) -> (String, HostVerdict) {
    let found = timeout_at(deadline, names.resolve_addresses(&host, Some(caller))).await;
    let verdict = match found {
        Ok(Ok(addresses)) if addresses.is_empty() => HostVerdict::Unknown,
        Ok(Ok(addresses)) if addresses.iter().all(|it| media::is_public(*it)) => {
            HostVerdict::Public
        }
        Ok(Ok(_)) => HostVerdict::Private,
        Ok(Err(LookupError::Busy)) => HostVerdict::Busy,
        Ok(Err(LookupError::NotFound)) | Err(_) => HostVerdict::Unknown,
    };
    (host, verdict)
}

#[cfg(test)]
mod tests;
