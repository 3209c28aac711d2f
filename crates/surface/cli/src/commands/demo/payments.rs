//! Sample wallet payments: some credited, one failed.

use control::service::ControlService;
use domain::entropy::time_ordered_id;
use ledger_core::{EntryId, PaymentNetwork};
use money::Nano;
use store::claim::{ClaimCredit, ClaimId, ClaimState, ClaimStep, PaymentClaim, SentPayment};
use store::write::{StoreWrite, WriteGroup};
use wallet::WalletAddress;

use super::{PAY_TO, to_demo_error};
use crate::failure::CommandError;

/// The burn address: a wallet without a known private key.
const PAYER: &str = "0x000000000000000000000000000000000000dEaD";
const NETWORK: &str = "eip155:8453";
const ASSET: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
/// Base units of USDC per dollar.
const UNITS_PER_USD: u64 = 1_000_000;

/// Adds a payment that is credited like a real one.
pub(super) async fn add_credited(service: &ControlService, usd: u64) -> Result<(), CommandError> {
    let now = service.clock.now();
    let network =
        PaymentNetwork::parse(NETWORK).ok_or_else(|| to_demo_error("the network is unknown"))?;
    let payer =
        WalletAddress::parse(PAYER).ok_or_else(|| to_demo_error("the wallet is malformed"))?;
    let owner = access::wallets::ensure_owner(service.store.as_ref(), payer, now).await;
    let owner = owner.map_err(to_demo_error)?;
    let claim = build_sample_claim(service, usd);
    let amount = Nano::parse(&usd.to_string()).map_err(to_demo_error)?;
    let credit =
        ClaimCredit { entry: EntryId(time_ordered_id(now, service.entropy.as_ref())), amount };
    let transaction = format!("0x{}", hex::encode(claim.nonce));
    let step = ClaimStep::Credit { transaction, credit };
    let also = vec![StoreWrite::AdvanceClaim {
        claim: claim.id,
        from: ClaimState::Verified,
        step,
        at: now,
    }];
    let writes = [vec![StoreWrite::OpenClaim(claim)], also].concat();
    let paid = service.ledger.top_up(credit.entry, owner.id, network, amount, writes).await;
    paid.map(drop).map_err(to_demo_error)
}

/// Adds a payment that the chain rejected.
pub(super) async fn add_failed(service: &ControlService, usd: u64) -> Result<(), CommandError> {
    let claim = build_sample_claim(service, usd);
    let step = ClaimStep::Fail { reason: "insufficient_funds".to_owned() };
    let (id, at) = (claim.id, service.clock.now());
    let fail = StoreWrite::AdvanceClaim { claim: id, from: ClaimState::Verified, step, at };
    let group = WriteGroup { writes: vec![StoreWrite::OpenClaim(claim), fail] };
    service.store.commit(group).await.map_err(to_demo_error)
}

fn build_sample_claim(service: &ControlService, usd: u64) -> PaymentClaim {
    let (mut id, mut nonce) = ([0; 20], [0; 32]);
    service.entropy.fill_bytes(&mut id);
    service.entropy.fill_bytes(&mut nonce);
    let now = service.clock.now();
    PaymentClaim {
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
