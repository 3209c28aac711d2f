//! Sample wallet payments: some credited, one failed.

use control::service::Service;
use credits::{EntryId, Network};
use domain::entropy::time_ordered_id;
use money::Nano;
use store::claim::{Claim, ClaimCredit, ClaimId, ClaimState, ClaimStep, SentPayment};
use store::write::{Group, Write};
use wallet::WalletAddress;

use super::{PAY_TO, describe};
use crate::failure::Failure;

/// The burn address: a wallet without a known private key.
const PAYER: &str = "0x000000000000000000000000000000000000dEaD";
const NETWORK: &str = "eip155:8453";
const ASSET: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
/// Base units of USDC per dollar.
const UNITS_PER_USD: u64 = 1_000_000;

/// Adds a payment that is credited like a real one.
pub(super) async fn add_credited(service: &Service, usd: u64) -> Result<(), Failure> {
    let now = service.clock.now();
    let network = Network::parse(NETWORK).ok_or_else(|| describe("the network is unknown"))?;
    let payer = WalletAddress::parse(PAYER).ok_or_else(|| describe("the wallet is malformed"))?;
    let owner = access::wallets::owner_with_row(service.store.as_ref(), payer, now).await;
    let owner = owner.map_err(describe)?;
    let claim = claim(service, usd);
    let amount = Nano::parse(&usd.to_string()).map_err(describe)?;
    let credit =
        ClaimCredit { entry: EntryId(time_ordered_id(now, service.entropy.as_ref())), amount };
    let transaction = format!("0x{}", hex(&claim.nonce));
    let step = ClaimStep::Credit { transaction, credit };
    let also =
        vec![Write::AdvanceClaim { claim: claim.id, from: ClaimState::Verified, step, at: now }];
    let writes = [vec![Write::OpenClaim(claim)], also].concat();
    let paid = service.ledger.top_up(credit.entry, owner.id, network, amount, writes).await;
    paid.map(drop).map_err(describe)
}

/// Adds a payment that the chain rejected.
pub(super) async fn add_failed(service: &Service, usd: u64) -> Result<(), Failure> {
    let claim = claim(service, usd);
    let step = ClaimStep::Fail { reason: "insufficient_funds".to_owned() };
    let (id, at) = (claim.id, service.clock.now());
    let fail = Write::AdvanceClaim { claim: id, from: ClaimState::Verified, step, at };
    let group = Group { writes: vec![Write::OpenClaim(claim), fail] };
    service.store.commit(group).await.map_err(describe)
}

fn claim(service: &Service, usd: u64) -> Claim {
    let (mut id, mut nonce) = ([0; 20], [0; 32]);
    service.entropy.fill(&mut id);
    service.entropy.fill(&mut nonce);
    let now = service.clock.now();
    Claim {
        id: ClaimId(id),
        network: NETWORK.to_owned(),
        asset: ASSET.to_owned(),
        payer: PAYER.to_owned(),
        nonce,
        pay_to: PAY_TO.to_owned(),
        units: usd * UNITS_PER_USD,
        payment: "{}".to_owned(),
        state: ClaimState::Verified,
        sent: SentPayment::default(),
        sent_at: None,
        credit: None,
        reason: None,
        created: now,
        changed: now,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
