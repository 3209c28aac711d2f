//! Parts of a service that are the same in every test.

use std::sync::Arc;
use std::time::Duration;

use access::KeyRing;
use api::console::assets::{ConsoleAssets, DocumentationPage, StaticAsset};
use api::console::{ConsoleState, OperateError, OperatorKey};
use batches::{BatchDependencies, BatchService, BatchSettings};
use domain::entropy::EntropySource;
use domain::secret::{PepperPair, SecretPepper};
use futures_util::future::BoxFuture;
use http_frame::engines::CurrentEngines;
use http_frame::wallets::WalletState;
use jobs::{JobQueue, LinkSecret};
use ledger::Ledger;
use media_store::MediaStore;
use moment::Clock;
use money::PriceFactor;
use payments::{PaymentParts, PaymentPolicy, PaymentService};
use serde_json::Value;
use store::Store;
use tempfile::TempDir;
use wallet::{ChainNetwork, SignInRules, TokenSecret};

use crate::chain;

pub(crate) fn build_key_ring(
    store: &Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn EntropySource>,
) -> KeyRing {
    let peppers = PepperPair { current: SecretPepper::new(&[7; 32]), before: None };
    KeyRing::new(Arc::clone(store), Arc::clone(clock), Arc::clone(entropy), peppers)
}

pub(crate) fn build_jobs(
    store: &Arc<dyn Store>,
    ledger: &Arc<Ledger>,
    engines: &Arc<CurrentEngines>,
    folder: &TempDir,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn EntropySource>,
) -> JobQueue {
    let engines = Arc::clone(engines);
    let parts = jobs::QueueDependencies {
        store: Arc::clone(store),
        ledger: Arc::clone(ledger),
        media: MediaStore::open_directory(&folder.path().join("media")).unwrap(),
        engine_of: Arc::new(move |model| engines.media_engine(model)),
        clock: Arc::clone(clock),
        entropy: Arc::clone(entropy),
        links: LinkSecret([5; 32]),
    };
    let look_every = Duration::from_millis(1);
    JobQueue::new(parts, jobs::QueueSettings { look_every, ..jobs::QueueSettings::default() })
}

/// Files and batches at half price, whose lines are tried again at once.
pub(crate) fn build_batches(
    store: &Arc<dyn Store>,
    ledger: &Arc<Ledger>,
    folder: &TempDir,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn EntropySource>,
) -> Arc<BatchService> {
    let parts = BatchDependencies {
        store: Arc::clone(store),
        ledger: Arc::clone(ledger),
        media: MediaStore::open_directory(&folder.path().join("media")).unwrap(),
        clock: Arc::clone(clock),
        entropy: Arc::clone(entropy),
    };
    let price_factor = PriceFactor::parse("0.5").unwrap().unwrap();
    let retry_pause = Duration::from_millis(1);
    let lines_max = 1_000;
    let settings =
        BatchSettings { price_factor, retry_pause, lines_max, ..BatchSettings::default() };
    Arc::new(BatchService::new(parts, settings))
}

/// A console of two files and two documentation pages; its operator actions echo the request.
pub(crate) fn build_console() -> ConsoleState {
    let file = |path: &str| match path {
        "index.html" => Some(StaticAsset { bytes: b"<!doctype html>", tag: "i1" }),
        "assets/main.js" => Some(StaticAsset { bytes: b"export {}", tag: "m1" }),
        _ => None,
    };
    let page = DocumentationPage {
        slug: "limits",
        title: "Limits",
        markdown: "# Limits\n",
        tag: "l1",
        is_for_operators: false,
    };
    let operator_page = DocumentationPage {
        slug: "operating",
        title: "Operating",
        markdown: "# Operating\n",
        tag: "o1",
        is_for_operators: true,
    };
    let operate = Arc::new(
        |by: OperatorKey, operation: Value| -> BoxFuture<'static, Result<Value, OperateError>> {
            let told = serde_json::json!({ "asked": operation, "by": by.last6 });
            Box::pin(async move { Ok(told) })
        },
    );
    let assets = ConsoleAssets { file, pages: vec![page, operator_page] };
    ConsoleState::new(assets).with_operator(operate)
}

/// Wallets on both chains, with the fixture's own domain.
pub(crate) fn build_wallets(payments: Option<PaymentService>) -> WalletState {
    let domains = vec!["testhost".to_owned(), "localhost:8080".to_owned()];
    let networks = ["base", "solana"].map(|name| ChainNetwork::parse(name).unwrap()).to_vec();
    WalletState::new(SignInRules { domains, networks }, payments, TokenSecret([9; 32]))
}

pub(crate) fn build_payments(parts: PaymentParts) -> PaymentService {
    let (wait, poll) = (Duration::from_millis(20), Duration::from_millis(1));
    let policy = PaymentPolicy { wait, poll, ..PaymentPolicy::default() };
    PaymentService::new(parts, chain::payment_terms(), policy)
}
