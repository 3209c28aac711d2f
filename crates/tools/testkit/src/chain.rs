//! A stub chain that executes every payment at once, unless a test changes its mood.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use moment::ManualClock;
use money::Nano;
use payments::{
    ChainSighting, ConfirmedTransfer, PaymentDecline, PaymentPreparation, PaymentSettler,
    PreparedPayment, SettleFailure, SettlementOrder, SettlerFuture,
};
use store::claim::{PaymentClaim, SentPayment};
use wallet::{
    ContractCheck, EvmAddress, EvmTerms, PaymentTerms, SolanaAddress, SolanaCluster, SolanaTerms,
    TokenAmount,
};

/// The transaction id of every payment.
pub const TRANSACTION: &str = "0x5e771ed";

pub struct StubChain {
    clock: Arc<ManualClock>,
    mood: Mutex<ChainBehaviour>,
    /// Contract wallets that accept every signature.
    contracts: Mutex<HashSet<EvmAddress>>,
}

/// The outcome of payments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChainBehaviour {
    #[default]
    Willing,
    /// The payer has no funds.
    Poor,
    /// The service's own relayer has no funds.
    Broke,
    /// A sent transaction never appears on the chain.
    Silent,
}

impl StubChain {
    pub fn new(clock: Arc<ManualClock>) -> StubChain {
        StubChain { clock, mood: Mutex::default(), contracts: Mutex::default() }
    }

    pub fn set_behaviour(&self, mood: ChainBehaviour) {
        *self.mood.lock().unwrap() = mood;
    }

    pub fn deploy(&self, wallet: EvmAddress) {
        self.contracts.lock().unwrap().insert(wallet);
    }

    fn behaviour(&self) -> ChainBehaviour {
        *self.mood.lock().unwrap()
    }

    fn observe_claim(&self, claim: &PaymentClaim) -> ChainSighting {
        match self.behaviour() {
            ChainBehaviour::Silent => {
                // Each poll advances the clock, so that waiting ends.
                self.clock.advance(Duration::from_secs(1));
                ChainSighting::Waiting { transaction: Some(TRANSACTION.to_owned()) }
            }
            _ => ChainSighting::Moved(ConfirmedTransfer {
                amount: TokenAmount::from_units(claim.units).unwrap(),
                transaction: TRANSACTION.to_owned(),
            }),
        }
    }
}

impl PaymentSettler for StubChain {
    fn prepare<'a>(&'a self, _: &'a SettlementOrder) -> SettlerFuture<'a, PaymentPreparation> {
        let prepared = match self.behaviour() {
            ChainBehaviour::Poor => {
                Err(PaymentDecline::new("insufficient_funds", "The payer has too little").into())
            }
            ChainBehaviour::Broke => {
                Err(SettleFailure::Unable("the relayer has no funds".to_owned()))
            }
            ChainBehaviour::Willing | ChainBehaviour::Silent => {
                let sent = SentPayment {
                    transaction: Some(TRANSACTION.to_owned()),
                    raw: Some(vec![1]),
                    sequence: Some(0),
                    since_block: Some(1),
                    replaced: Vec::new(),
                };
                Ok(PaymentPreparation::Ready(PreparedPayment { sent, turn: None }))
            }
        };
        Box::pin(async { prepared })
    }

    fn send<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        let sighted = self.observe_claim(claim);
        Box::pin(async { Ok(sighted) })
    }

    fn look_up<'a>(&'a self, claim: &'a PaymentClaim) -> SettlerFuture<'a, ChainSighting> {
        let sighted = self.observe_claim(claim);
        Box::pin(async { Ok(sighted) })
    }

    fn recent_blockhash(&self) -> SettlerFuture<'_, Option<[u8; 32]>> {
        Box::pin(async { Ok(Some([5; 32])) })
    }

    fn confirms_signature<'a>(&'a self, check: &'a ContractCheck) -> SettlerFuture<'a, bool> {
        let is_contract = self.contracts.lock().unwrap().contains(&check.account);
        Box::pin(async move { Ok(is_contract) })
    }
}

/// Terms of 5 to 10,000 dollars of USDC on Base or Solana.
pub fn payment_terms() -> PaymentTerms {
    let evm = |address: &str| EvmAddress::parse(address).unwrap();
    let solana = |address: &str| SolanaAddress::parse(address).unwrap();
    PaymentTerms {
        evm: Some(EvmTerms {
            chain_id: 8453,
            asset: evm("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
            asset_name: "USD Coin".to_owned(),
            asset_version: "2".to_owned(),
            pay_to: evm("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
        }),
        solana: Some(SolanaTerms {
            cluster: SolanaCluster::Mainnet,
            mint: solana("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
            pay_to: solana("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
            fee_payer: solana("GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"),
        }),
        minimum: TokenAmount::at_least(Nano::from_units(5)),
        maximum: TokenAmount::at_most(Nano::from_units(10_000)),
        timeout_s: 300,
    }
}
