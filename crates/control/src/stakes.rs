//! DIEM that wallets have staked: each stake gives its owner a daily allowance of as much.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use credits::{AllowanceKind, EntryId, OwnerId};
use domain::entropy::time_ordered_id;
use money::Nano;
use store::owner::OwnerKind;
use wallet::EvmAddress;

use crate::operation::OperationError;
use crate::service::Service;

/// Less than this is staked by nobody who means to spend it: a tenth of a DIEM.
const STAKE_MIN: Nano = Nano::from_nanos(100_000_000);
/// Wallets are asked about in portions, so that their number does not matter.
const PORTION: usize = 500;

/// What a wallet has staked, or why that is not known.
pub type Staked<'a> = Pin<Box<dyn Future<Output = Result<Nano, String>> + Send + 'a>>;

/// The source of what is staked: a contract, read through a node of its chain.
pub trait StakeReader: Send + Sync {
    fn staked(&self, wallet: EvmAddress) -> Staked<'_>;
}

/// What a round of reading came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StakesRead {
    /// Owners whose allowance is another from now on.
    pub changed: usize,
    /// Owners of wallets that could not be read, or whose money was in use all the while. Their
    /// allowances stay as they are.
    pub unread: usize,
}

impl Service {
    /// Reads the stakes of all wallets and sets the allowances of their owners accordingly. Owners
    /// without a wallet keep what the operator gave them.
    pub async fn read_stakes(
        &self,
        reader: &dyn StakeReader,
    ) -> Result<StakesRead, OperationError> {
        let mut read = StakesRead::default();
        for (owner, wallets) in self.wallets_by_owner().await? {
            let Some(staked) = total(reader, &wallets).await else {
                read.unread += 1;
                continue;
            };
            let allowance = if staked < STAKE_MIN { Nano::ZERO } else { staked };
            match self.give_daily(owner, allowance).await {
                Ok(is_changed) => read.changed += usize::from(is_changed),
                // One owner that cannot come here now does not hold up all others.
                Err(error) => {
                    let owner = owner.0;
                    tracing::warn!(%owner, "the stake of {owner} is not in force yet: {error}");
                    read.unread += 1;
                }
            }
        }
        Ok(read)
    }

    /// Sets an owner's daily allowance; false if it was that before.
    async fn give_daily(&self, owner: OwnerId, allowance: Nano) -> Result<bool, OperationError> {
        let kind = AllowanceKind::DiemDaily;
        if self.ledger.allocation_anywhere(owner, kind).await? == allowance {
            return Ok(false);
        }
        let entry = EntryId(time_ordered_id(self.clock.now(), self.entropy.as_ref()));
        self.set_allowance(entry, owner, (kind, allowance), Vec::new()).await?;
        Ok(true)
    }

    /// Wallets that spend a balance of their own, and those that are linked to an account.
    async fn wallets_by_owner(&self) -> Result<BTreeMap<OwnerId, Vec<String>>, OperationError> {
        let mut wallets: BTreeMap<OwnerId, Vec<String>> = BTreeMap::new();
        let mut after = String::new();
        loop {
            let owners = self.store.list_owners(OwnerKind::Evm, &after, PORTION).await?;
            let Some(last) = owners.last() else { break };
            after.clone_from(&last.name);
            for owner in owners {
                wallets.entry(owner.id).or_default().push(owner.name);
            }
        }
        after.clear();
        loop {
            let links = self.store.wallet_links(OwnerKind::Evm, &after, PORTION).await?;
            let Some(last) = links.last() else { break };
            after.clone_from(&last.address);
            for link in links {
                wallets.entry(link.owner).or_default().push(link.address);
            }
        }
        Ok(wallets)
    }
}

/// The stakes of all wallets of an owner together; none if one of them cannot be read.
async fn total(reader: &dyn StakeReader, wallets: &[String]) -> Option<Nano> {
    let mut sum = Nano::ZERO;
    for wallet in wallets {
        let address = EvmAddress::parse(wallet)?;
        match reader.staked(address).await {
            Ok(staked) => sum = sum.saturating_add(staked),
            Err(cause) => {
                tracing::warn!(wallet, "the stake of {wallet} could not be read: {cause}");
                return None;
            }
        }
    }
    Some(sum)
}
