//! A service that takes payments on a scripted chain, and payers with keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::entropy::EntropySource;
use k256::ecdsa::SigningKey;
use ledger::Ledger;
use ledger_core::LedgerRules;
use moment::{Clock, ManualClock, Timestamp};
use money::Nano;
use serde_json::json;
use store::Store;
use store::claim::{ClaimState, PaymentClaim};
use store::owner::OwnerKind;
use store::sqlite::{SqliteOptions, SqliteStore, database_in};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use wallet::evm::TransferAuthorization;
use wallet::{EvmAddress, EvmTerms, PaymentTerms, TokenAmount, WalletAddress};

use super::script::Script;
use crate::{PaymentParts, PaymentPolicy, PaymentService, SettledPayment, TopUpRefusal};

pub(super) const NOW_S: i64 = 1_794_705_500;
/// Longer than a request waits for a payment.
pub(super) const REPLACE_AFTER: Duration = Duration::from_secs(10);
pub(super) const RECHECK_AFTER: Duration = Duration::from_secs(60);

pub(super) struct World {
    pub(super) directory: TempDir,
    pub(super) clock: Arc<ManualClock>,
    pub(super) chain: Arc<Script>,
    pub(super) store: Arc<dyn Store>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) payments: PaymentService,
}

/// Bytes that differ from call to call and are the same in every run.
#[derive(Default)]
struct Counting(AtomicU64);

impl EntropySource for Counting {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, of_count) in bytes.iter_mut().rev().zip(count.into_iter().rev()) {
            *byte = of_count;
        }
    }
}

pub(super) async fn world() -> World {
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(NOW_S * 1000)));
    let chain = Arc::new(Script::new(Arc::clone(&clock)));
    let directory = tempfile::tempdir().unwrap();
    let store = open_store(&directory);
    world_on(directory, clock, chain, store).await
}

pub(super) fn open_store(directory: &TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&SqliteOptions::scratch(database_in(directory.path()))).unwrap())
}

pub(super) async fn world_on(
    directory: TempDir,
    clock: Arc<ManualClock>,
    chain: Arc<Script>,
    store: Arc<dyn Store>,
) -> World {
    let entropy: Arc<dyn EntropySource> = Arc::new(Counting::default());
    let time = Arc::clone(&clock) as Arc<dyn Clock>;
    let opened = Ledger::open(
        Arc::clone(&store),
        Arc::clone(&time),
        Arc::clone(&entropy),
        LedgerRules::default(),
    );
    let ledger = Arc::new(opened.await.unwrap());
    let parts = PaymentParts {
        store: Arc::clone(&store),
        ledger: Arc::clone(&ledger),
        settler: Arc::clone(&chain) as Arc<dyn crate::PaymentSettler>,
        clock: time,
        tasks: TaskTracker::new(),
    };
    let policy = PaymentPolicy {
        wait: Duration::from_secs(3),
        poll: Duration::from_millis(1),
        replace_after: REPLACE_AFTER,
        recheck_after: RECHECK_AFTER,
    };
    let payments = PaymentService::new(parts, terms(), policy);
    World { directory, clock, chain, store, ledger, payments }
}

pub(super) fn terms() -> PaymentTerms {
    PaymentTerms {
        evm: Some(evm_terms()),
        solana: None,
        minimum: TokenAmount::at_least(Nano::from_units(5)),
        maximum: TokenAmount::at_most(Nano::from_units(10_000)),
        timeout_s: 300,
    }
}

fn evm_terms() -> EvmTerms {
    EvmTerms {
        chain_id: 8453,
        asset: address("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        asset_name: "USD Coin".to_owned(),
        asset_version: "2".to_owned(),
        pay_to: address("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
    }
}

fn address(text: &str) -> EvmAddress {
    EvmAddress::parse(text).unwrap()
}

impl World {
    /// Closes everything but the chain, and starts again from the database.
    pub(super) async fn restart(self) -> World {
        let World { directory, clock, chain, store, ledger, payments } = self;
        drop((store, ledger, payments));
        let store = open_store(&directory);
        world_on(directory, clock, chain, store).await
    }

    pub(super) async fn pay(&self, payer: &Payer) -> Result<SettledPayment, TopUpRefusal> {
        self.payments.top_up(payer.header().as_bytes()).await
    }

    pub(super) async fn balance(&self, payer: &Payer) -> Nano {
        let name = payer.name();
        match self.store.find_owner(OwnerKind::Evm, &name).await.unwrap() {
            Some(owner) => self.ledger.balances(owner.id).usd,
            None => Nano::ZERO,
        }
    }

    pub(super) async fn claims(&self) -> Vec<ClaimState> {
        let claims = self.store.unfinished_claims().await.unwrap();
        claims.iter().map(|claim: &PaymentClaim| claim.state).collect()
    }

    /// Asserts that the books are sound, and that they received from the chain what the chain
    /// moved.
    pub(super) async fn expect_sound(&self) {
        let report = ledger::verify_books(&*self.store).await.unwrap();
        assert_eq!(report.violations, []);
        let sums = self.store.credited_claims().await.unwrap();
        let credited: i64 = sums.iter().map(|sum| sum.amount.nanos()).sum();
        let received = i64::try_from(self.chain.received()).unwrap() * 1000;
        assert_eq!(credited, received, "credited, and received on the chain");
    }
}

/// A payer on the EVM chain, with one authorization to spend.
#[derive(Clone)]
pub(super) struct Payer {
    key: SigningKey,
    signer: SigningKey,
    pub(super) units: u64,
    pub(super) nonce: [u8; 32],
}

impl Payer {
    pub(super) fn new(seed: u8) -> Payer {
        let key = SigningKey::from_slice(&[seed; 32]).unwrap();
        Payer { signer: key.clone(), key, units: 5_000_000, nonce: [seed; 32] }
    }

    /// The same payment, signed with another key.
    pub(super) fn forged(&self) -> Payer {
        Payer { signer: SigningKey::from_slice(&[99; 32]).unwrap(), ..self.clone() }
    }

    pub(super) fn name(&self) -> String {
        WalletAddress::Evm(self.address()).to_string()
    }

    fn address(&self) -> EvmAddress {
        Address::from_public_key(self.key.verifying_key()).into()
    }

    pub(super) fn header(&self) -> String {
        let terms = evm_terms();
        let valid_before = NOW_S + 300;
        let authorization = TransferAuthorization {
            from: self.address(),
            to: terms.pay_to,
            value: U256::from(self.units),
            valid_after: U256::ZERO,
            valid_before: U256::from(valid_before),
            nonce: self.nonce,
        };
        let digest = authorization.signing_digest(&terms);
        let (signature, recovery) = self.signer.sign_prehash_recoverable(&digest).unwrap();
        let mut bytes = signature.to_bytes().to_vec();
        bytes.push(27 + recovery.to_byte());
        let payload = json!({
            "x402Version": 2,
            "accepted": { "scheme": "exact", "network": "eip155:8453" },
            "payload": {
                "signature": hex::encode_prefixed(bytes),
                "authorization": {
                    "from": self.address().to_string(),
                    "to": terms.pay_to.to_string(),
                    "value": self.units.to_string(),
                    "validAfter": "0",
                    "validBefore": valid_before.to_string(),
                    "nonce": hex::encode_prefixed(self.nonce),
                },
            },
        });
        STANDARD.encode(payload.to_string())
    }
}
