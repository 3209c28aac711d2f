//! Builds the reader of wallets' stakes from `[diem]`.

use std::sync::Arc;

use config::sections::diem::Diem;
use control::stakes::{StakeReader, Staked};
use money::Nano;
use payments::Stakes;
use wallet::EvmAddress;

/// Returns None if no contract is configured.
pub(crate) fn reader(diem: Option<&Diem>) -> Result<Option<Arc<dyn StakeReader>>, String> {
    let Some(diem) = diem else { return Ok(None) };
    let contract = EvmAddress::parse(&diem.contract)
        .ok_or_else(|| "`contract` in [diem] is no address".to_owned())?;
    let stakes = Stakes::new(diem.rpc_url.expose(), contract);
    let stakes = stakes.map_err(|error| format!("`rpc_url` in [diem]: {error}"))?;
    Ok(Some(Arc::new(Contract(stakes))))
}

struct Contract(Stakes);

impl StakeReader for Contract {
    fn staked(&self, wallet: EvmAddress) -> Staked<'_> {
        Box::pin(async move { self.0.of(wallet).await.map(Nano::from_nanos) })
    }
}
