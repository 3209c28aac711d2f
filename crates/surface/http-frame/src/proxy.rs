//! The state of the JSON-RPC proxy: chains, prices, caps and requests in progress.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ledger_core::OwnerId;
use moment::Timestamp;
use rpc::billing::CreditPrice;
use rpc::caps::CreditCaps;
use rpc::in_flight::InFlight;
use rpc::node::ChainNodes;
use rpc::window::CREDITS_PER_DAY_MAX;
use single_flight::SingleFlight;
use store::Store;
use store::error::StoreError;
use store::idempotency::StoredResponseKey;

use crate::keyed_outcome::KeyedOutcome;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub struct RpcProxy {
    pub chains: Arc<CurrentChains>,
    pub caps: Arc<CreditCaps<OwnerId>>,
    pub in_flight: Arc<InFlight<OwnerId>>,
    /// Requests with an idempotency key in progress, for all endpoints that accept keys.
    pub(crate) keyed: Arc<SingleFlight<StoredResponseKey, KeyedOutcome>>,
}

/// The current chains, replaced as a whole when the configuration is reloaded.
pub struct CurrentChains {
    chains: RwLock<Arc<RpcChains>>,
}

/// The operator's configuration of the proxy.
pub struct RpcChains {
    pub nodes: ChainNodes,
    pub price: CreditPrice,
}

impl RpcProxy {
    /// Restores the credits used in the last day, so that a restart does not reset the caps.
    pub async fn open(
        chains: Arc<CurrentChains>,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<RpcProxy, StoreError> {
        let spent = store.spent_credits(now.minus(DAY)).await?;
        let spent = spent.into_iter().map(|row| (row.owner, row.at, row.credits));
        let caps = Arc::new(CreditCaps::rebuild(spent, CREDITS_PER_DAY_MAX, now));
        Ok(RpcProxy { chains, caps, in_flight: Arc::default(), keyed: Arc::default() })
    }
}

impl CurrentChains {
    pub fn new(chains: RpcChains) -> CurrentChains {
        CurrentChains { chains: RwLock::new(Arc::new(chains)) }
    }

    /// Requests in progress keep the chains they began with.
    pub fn replace(&self, chains: RpcChains) {
        *self.chains.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(chains);
    }

    pub fn get(&self) -> Arc<RpcChains> {
        Arc::clone(&self.chains.read().unwrap_or_else(PoisonError::into_inner))
    }
}
