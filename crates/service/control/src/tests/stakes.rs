//! Tests of wallet stakes and the allowances that they give.

use std::collections::HashMap;

use ledger_core::AllowanceKind;
use money::Nano;
use store::owner::OwnerKind;
use wallet::{EvmAddress, WalletAddress};

use super::ControlFixture;
use crate::operation::ControlOperation;
use crate::stakes::{StakeFuture, StakeReadReport, StakeReader};

const LINKED: &str = "0x00000000000000000000000000000000000000a1";
const OWN: &str = "0x00000000000000000000000000000000000000b2";

/// Stakes by the last byte of a wallet; other wallets cannot be read.
struct KnownStakes(HashMap<String, &'static str>);

impl StakeReader for KnownStakes {
    fn read_stake(&self, wallet: EvmAddress) -> StakeFuture<'_> {
        let staked = self.0.get(&wallet.to_string().to_lowercase());
        let staked = staked.map(|it| Nano::parse(it).unwrap()).ok_or("no answer".to_owned());
        Box::pin(async move { staked })
    }
}

fn known(stakes: &[(&str, &'static str)]) -> KnownStakes {
    KnownStakes(stakes.iter().map(|(wallet, staked)| ((*wallet).to_owned(), *staked)).collect())
}

async fn scene() -> ControlFixture {
    let scene = ControlFixture::founded().await;
    let (name, wallet) = ("default".to_owned(), LINKED.to_owned());
    scene.perform(ControlOperation::LinkWallet { name, wallet }).await.unwrap();
    let (store, now) = (scene.service.store.as_ref(), scene.service.clock.now());
    let wallet = WalletAddress::parse(OWN).unwrap();
    access::wallets::ensure_owner(store, wallet, now).await.unwrap();
    scene
}

impl ControlFixture {
    /// The daily allowances of the linked account and of the wallet with its own balance.
    async fn allowances(&self) -> [String; 2] {
        let mut told = Vec::new();
        for wallet in [LINKED, OWN] {
            let owner = self.service.store.find_owner(OwnerKind::Evm, wallet).await.unwrap();
            let kind = AllowanceKind::DiemDaily;
            told.push(self.service.ledger.allocation(owner.unwrap().id, kind).to_string());
        }
        told.try_into().unwrap()
    }
}

#[tokio::test]
async fn a_stake_is_its_owners_allowance() {
    let scene = scene().await;
    let stakes = known(&[(LINKED, "12.5"), (OWN, "3")]);
    let read = scene.service.read_stakes(&stakes).await.unwrap();
    assert_eq!(read, StakeReadReport { changed: 2, unread: 0 });
    assert_eq!(scene.allowances().await, ["12.5", "3"]);
    let again = scene.service.read_stakes(&stakes).await.unwrap();
    assert_eq!(again, StakeReadReport::default(), "what is the same is not written again");
}

#[tokio::test]
async fn a_stake_that_was_taken_out_gives_nothing_and_one_that_cannot_be_read_stays() {
    let scene = scene().await;
    let both = known(&[(LINKED, "2"), (OWN, "3")]);
    scene.service.read_stakes(&both).await.unwrap();
    let read = scene.service.read_stakes(&known(&[(LINKED, "0.09")])).await.unwrap();
    assert_eq!(read, StakeReadReport { changed: 1, unread: 1 });
    assert_eq!(scene.allowances().await, ["0", "3"], "less than a tenth is nothing");
}

/// As for an owner whose home is another node and whose balance is in use.
#[tokio::test]
async fn an_owner_whose_allowance_cannot_be_set_does_not_hold_up_the_others() {
    const REFUSED: &str = "9000000000";
    for (linked, own, expected) in [(REFUSED, "3", ["0", "3"]), ("2", REFUSED, ["2", "0"])] {
        let scene = scene().await;
        let read = scene.service.read_stakes(&known(&[(LINKED, linked), (OWN, own)])).await;
        assert_eq!(read.unwrap(), StakeReadReport { changed: 1, unread: 1 });
        assert_eq!(scene.allowances().await, expected);
    }
}
