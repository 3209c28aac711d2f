//! The owners that this node decides for, when several nodes share the books.
//!
//! An owner's home is the one node that has its lease in the store. Its balances, holds and key
//! limits are in that node's memory only, so they are as exact as those of a single node. A node
//! that gets a request for an owner takes the lease if it is free, and otherwise returns the
//! address of the node that has it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ledger_core::{AllowanceKind, ChargeSource, CreditCommand, CurrencyBalances, OwnerId};
use money::Nano;
use store::leases::{LeaseHolder, OwnerLeases};
use store::write::WriteGroup;
use tokio::sync::MutexGuard;

use crate::error::LedgerError;
use crate::state::Ledger;

/// Time for which the address of an owner's home is cached. A dead node is noticed sooner, by the
/// request that cannot reach it.
const HOME_CACHE_LIFETIME: Duration = Duration::from_secs(2);
/// Capacity of the caches, which are cleared when full: each entry costs one query to learn again.
const HOMES_CACHED_MAX: usize = 100_000;
/// Locks for taking over and releasing owners; owners that hash to the same lock wait for each
/// other.
const OWNER_LOCKS: usize = 64;

/// Time without requests after which an owner is released; at most `RELEASED_PER_CALL_MAX` per call
/// of `run_maintenance`.
const IDLE: Duration = Duration::from_secs(300);
const RELEASED_PER_CALL_MAX: usize = 64;

/// Attempts to recall an owner from another node, `RECALL_PAUSE` apart.
const RECALLS_MAX: u32 = 50;
const RECALL_PAUSE: Duration = Duration::from_millis(200);

/// The node that decides about an owner's money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerHome {
    Here,
    /// Another node, at this address.
    At {
        address: String,
    },
}

pub(crate) struct OwnerHomes {
    leases: Arc<dyn OwnerLeases>,
    elsewhere: Mutex<HashMap<OwnerId, (Instant, String)>>,
    /// Owners that did not exist when they were last looked up: wallets that never paid.
    strangers: Mutex<HashSet<OwnerId>>,
    turns: [tokio::sync::Mutex<()>; OWNER_LOCKS],
    hasher: RandomState,
}

impl OwnerHomes {
    pub(crate) fn new(leases: Arc<dyn OwnerLeases>) -> OwnerHomes {
        OwnerHomes {
            leases,
            elsewhere: Mutex::default(),
            strangers: Mutex::default(),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            hasher: RandomState::new(),
        }
    }

    pub(crate) async fn lease(&self, owner: OwnerId) -> Result<LeaseHolder, LedgerError> {
        Ok(self.leases.lease_owner(owner).await?)
    }

    /// True if this node was declared dead and has no owners any more.
    pub(crate) fn is_retired(&self) -> bool {
        self.leases.is_retired()
    }

    pub(crate) async fn register_again(&self) -> Result<(), LedgerError> {
        Ok(self.leases.register_again().await?)
    }

    async fn lock_owner(&self, owner: OwnerId) -> MutexGuard<'_, ()> {
        let turn = self.hasher.hash_one(owner) % OWNER_LOCKS as u64;
        self.turns[turn as usize].lock().await
    }

    fn cached_address(&self, owner: OwnerId) -> Option<String> {
        let elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, address) = elsewhere.get(&owner)?;
        (since.elapsed() < HOME_CACHE_LIFETIME).then(|| address.clone())
    }

    fn cache_address(&self, owner: OwnerId, address: String) {
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if HOMES_CACHED_MAX <= elsewhere.len() {
            elsewhere.clear();
        }
        elsewhere.insert(owner, (Instant::now(), address));
    }

    /// True if an owner does not exist, and so has no money.
    pub(crate) fn is_unknown_owner(&self, owner: OwnerId) -> bool {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner).contains(&owner)
    }

    fn set_unknown_owner(&self, owner: OwnerId, is_one: bool) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if HOMES_CACHED_MAX <= strangers.len() {
            strangers.clear();
        }
        if is_one {
            strangers.insert(owner);
        } else {
            strangers.remove(&owner);
        }
    }

    fn forget_address(&self, owner: OwnerId) {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).remove(&owner);
    }
}

impl Ledger {
    /// Returns an owner's home. Takes the lease if no node has it.
    pub async fn home_of(&self, owner: OwnerId) -> Result<OwnerHome, LedgerError> {
        let Some(homes) = &self.shared.homes else { return Ok(OwnerHome::Here) };
        if self.shared.lock().touch_home(owner) {
            return Ok(OwnerHome::Here);
        }
        if let Some(address) = homes.cached_address(owner) {
            return Ok(OwnerHome::At { address });
        }
        let _turn = homes.lock_owner(owner).await;
        if self.shared.lock().touch_home(owner) {
            return Ok(OwnerHome::Here);
        }
        let leased = homes.lease(owner).await?;
        homes.set_unknown_owner(owner, leased == LeaseHolder::Nobody);
        match leased {
            LeaseHolder::At { address } => {
                homes.cache_address(owner, address.clone());
                Ok(OwnerHome::At { address })
            }
            LeaseHolder::Nobody => Ok(OwnerHome::Here),
            LeaseHolder::Here(books) => {
                let mut live = self.shared.lock();
                live.refuse_if_stopped()?;
                live.core.take_over_owner(owner, books.snapshot)?;
                live.add_home(owner);
                Ok(OwnerHome::Here)
            }
        }
    }

    /// Forgets the cached home of an owner because that node did not answer; the next call asks the
    /// store.
    pub fn forget_home(&self, owner: OwnerId) {
        if let Some(homes) = &self.shared.homes {
            homes.forget_address(owner);
        }
    }

    /// Moves an owner to this node, for work that cannot be forwarded to its home. The home
    /// releases it once no request holds its money; this waits for that, about 10 s at most.
    pub async fn move_owner_here(&self, owner: OwnerId) -> Result<(), LedgerError> {
        let Some(homes) = &self.shared.homes else { return Ok(()) };
        for _ in 0..RECALLS_MAX {
            if let OwnerHome::Here = self.home_of(owner).await? {
                return Ok(());
            }
            homes.leases.recall_owner(owner).await?;
            tokio::time::sleep(RECALL_PAUSE).await;
            homes.forget_address(owner);
        }
        Err(LedgerError::Unavailable)
    }

    /// The available balances of an owner, whichever node is its home.
    pub async fn balances_anywhere(&self, owner: OwnerId) -> Result<CurrencyBalances, LedgerError> {
        Ok(match self.load_remote_core(owner).await? {
            Some(core) => core.balances(owner, self.shared.now()),
            None => self.balances(owner),
        })
    }

    /// The full allowance of an owner, whichever node is its home.
    pub async fn allocation_anywhere(
        &self,
        owner: OwnerId,
        kind: AllowanceKind,
    ) -> Result<Nano, LedgerError> {
        Ok(match self.load_remote_core(owner).await? {
            Some(core) => core.allocation(owner, kind, self.shared.now()),
            None => self.allocation(owner, kind),
        })
    }

    /// An owner's books as the store has them, if another node is its home.
    async fn load_remote_core(
        &self,
        owner: OwnerId,
    ) -> Result<Option<ledger_core::CreditLedger>, LedgerError> {
        let Some(homes) = &self.shared.homes else { return Ok(None) };
        if self.shared.lock().is_home(owner) {
            return Ok(None);
        }
        let books = homes.leases.owner_books(owner).await?;
        let mut core = ledger_core::CreditLedger::new(self.shared.rules);
        core.take_over_owner(owner, books.snapshot)?;
        Ok(Some(core))
    }

    /// Releases owners without recent requests, so that the next node that is asked takes them:
    /// after a node was away, owners spread over all nodes again. A node whose clock is wrong
    /// releases all.
    pub(crate) async fn release_idle_owners(&self) {
        let time = if self.shared.store.clock_fault().is_some() { Duration::ZERO } else { IDLE };
        let mut idle = self.shared.lock().idle_owners(time);
        idle.truncate(RELEASED_PER_CALL_MAX);
        for owner in idle {
            if let Err(error) = self.release_owner(owner).await {
                tracing::debug!(%error, "an idle account was not released: {error}");
                return;
            }
        }
    }

    /// Releases an owner to other nodes; false if requests here hold some of its money.
    pub async fn release_owner(&self, owner: OwnerId) -> Result<bool, LedgerError> {
        let Some(homes) = &self.shared.homes else { return Ok(false) };
        let _turn = homes.lock_owner(owner).await;
        {
            let mut live = self.shared.lock();
            if !live.is_home(owner) {
                return Ok(true);
            }
            if !live.core.release_owner(owner) {
                return Ok(false);
            }
            live.remove_home(owner);
        }
        // All groups of the owner are written before this empty one is.
        self.shared
            .store
            .commit(WriteGroup::default())
            .await
            .map_err(|_| LedgerError::Unavailable)?;
        homes.leases.release_owner(owner).await?;
        Ok(true)
    }
}

/// The owner that a command is about; None for commands on an open hold, which the core knows.
pub(crate) fn owner_of(command: &CreditCommand) -> Option<OwnerId> {
    match command {
        CreditCommand::TopUp { owner, .. }
        | CreditCommand::Grant { owner, .. }
        | CreditCommand::Debit { owner, .. }
        | CreditCommand::Reverse { owner, .. }
        | CreditCommand::Restore { owner, .. }
        | CreditCommand::CollectDebt { owner, .. }
        | CreditCommand::SetAllowance { owner, .. } => Some(*owner),
        CreditCommand::Hold { payer, .. } => Some(payer.owner),
        CreditCommand::Refund { source, .. } => match source {
            ChargeSource::Journal(charge) | ChargeSource::Part(charge) => {
                charge.legs.first().map(|leg| leg.lot.owner)
            }
            ChargeSource::Recent => None,
        },
        CreditCommand::Raise { .. }
        | CreditCommand::Settle { .. }
        | CreditCommand::Release { .. }
        | CreditCommand::Sweep { .. } => None,
    }
}
