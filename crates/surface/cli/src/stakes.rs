//! Builds the reader of wallets' stakes from `[diem]`.

use std::sync::Arc;

use config::sections::diem::DiemConfig;
use control::stakes::{StakeFuture, StakeReader};
use money::Nano;
use payments::StakeContractClient;
use wallet::EvmAddress;

/// Returns None if no contract is configured.
pub(crate) fn build_stake_reader(
    diem: Option<&DiemConfig>,
) -> Result<Option<Arc<dyn StakeReader>>, String> {
    let Some(diem) = diem else { return Ok(None) };
    let contract = EvmAddress::parse(&diem.contract)
        .ok_or_else(|| "`contract` in [diem] is no address".to_owned())?;
    let stakes = StakeContractClient::new(diem.rpc_url.expose(), contract);
    let stakes = stakes.map_err(|error| format!("`rpc_url` in [diem]: {error}"))?;
    Ok(Some(Arc::new(StakingContract(stakes))))
}

struct StakingContract(StakeContractClient);

impl StakeReader for StakingContract {
    fn read_stake(&self, wallet: EvmAddress) -> StakeFuture<'_> {
        Box::pin(async move { self.0.stake_of(wallet).await.map(Nano::from_nanos) })
    }
}
