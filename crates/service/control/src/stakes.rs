//! DIEM staked by wallets: each stake gives its owner a daily allowance of the same amount.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use domain::entropy::time_ordered_id;
use ledger_core::{AllowanceKind, EntryId, OwnerId};
use money::Nano;
use store::owner::OwnerKind;
use wallet::EvmAddress;

use crate::operation::OperationError;
use crate::service::ControlService;

/// Minimum stake that counts: 0.1 DIEM.
const STAKE_MIN: Nano = Nano::from_nanos(100_000_000);
/// Wallets read per store query.
const WALLETS_PER_QUERY: usize = 500;

/// The amount that a wallet has staked, or the error.
pub type StakeFuture<'a> = Pin<Box<dyn Future<Output = Result<Nano, String>> + Send + 'a>>;

/// Reads stakes from a contract, through a node of its chain.
pub trait StakeReader: Send + Sync {
    fn read_stake(&self, wallet: EvmAddress) -> StakeFuture<'_>;
}

/// The result of reading all stakes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StakeReadReport {
    /// Owners whose allowance changed.
    pub changed: usize,
    /// Owners with a wallet that could not be read, or whose allowance could not be set. Their
    /// allowances stay unchanged.
    pub unread: usize,
}

impl ControlService {
    /// Reads the stakes of all wallets and sets the allowances of their owners. Owners without a
    /// wallet keep the operator's allowance.
    pub async fn read_stakes(
        &self,
        reader: &dyn StakeReader,
    ) -> Result<StakeReadReport, OperationError> {
        let mut read = StakeReadReport::default();
        for (owner, wallets) in self.wallets_by_owner().await? {
            let Some(staked) = sum_stakes(reader, &wallets).await else {
                read.unread += 1;
                continue;
            };
            let allowance = if staked < STAKE_MIN { Nano::ZERO } else { staked };
            match self.set_daily_allowance(owner, allowance).await {
                Ok(is_changed) => read.changed += usize::from(is_changed),
                // An error for one owner must not stop the others.
                Err(error) => {
                    let owner = owner.0;
                    tracing::warn!(%owner, "the stake of {owner} was not applied: {error}");
                    read.unread += 1;
                }
            }
        }
        Ok(read)
    }

    /// Sets an owner's daily allowance; returns false if it is unchanged.
    async fn set_daily_allowance(
        &self,
        owner: OwnerId,
        allowance: Nano,
    ) -> Result<bool, OperationError> {
        let kind = AllowanceKind::DiemDaily;
        if self.ledger.allocation_anywhere(owner, kind).await? == allowance {
            return Ok(false);
        }
        let entry = EntryId(time_ordered_id(self.clock.now(), self.entropy.as_ref()));
        self.ledger.set_allowance(entry, owner, kind, allowance, Vec::new()).await?;
        Ok(true)
    }

    /// Wallets by the owner whose balance they spend: their own or a linked account's.
    async fn wallets_by_owner(&self) -> Result<BTreeMap<OwnerId, Vec<String>>, OperationError> {
        let mut wallets: BTreeMap<OwnerId, Vec<String>> = BTreeMap::new();
        let mut after = String::new();
        loop {
            let owners = self.store.list_owners(OwnerKind::Evm, &after, WALLETS_PER_QUERY).await?;
            let Some(last) = owners.last() else { break };
            after.clone_from(&last.name);
            for owner in owners {
                wallets.entry(owner.id).or_default().push(owner.name);
            }
        }
        after.clear();
        loop {
            let links = self.store.wallet_links(OwnerKind::Evm, &after, WALLETS_PER_QUERY).await?;
            let Some(last) = links.last() else { break };
            after.clone_from(&last.address);
            for link in links {
                wallets.entry(link.owner).or_default().push(link.address);
            }
        }
        Ok(wallets)
    }
}

/// The sum of the stakes of an owner's wallets; `None` if one of them cannot be read.
async fn sum_stakes(reader: &dyn StakeReader, wallets: &[String]) -> Option<Nano> {
    let mut sum = Nano::ZERO;
    for wallet in wallets {
        let address = EvmAddress::parse(wallet)?;
        match reader.read_stake(address).await {
            Ok(staked) => sum = sum.saturating_add(staked),
            Err(cause) => {
                tracing::warn!(
                    wallet,
                    "the stake of the wallet {wallet} could not be read: {cause}"
                );
                return None;
            }
        }
    }
    Some(sum)
}
