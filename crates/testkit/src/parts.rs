//! Parts of a service that are the same in every test.

use std::sync::Arc;
use std::time::Duration;

use api::console::assets::{Asset, Assets, Page};
use api::console::{Console, OperateError, OperatorKey};
use api::engines::Engines;
use api::wallets::Wallets;
use domain::entropy::Entropy;
use futures_util::future::BoxFuture;
use jobs::{Jobs, LinkSecret};
use ledger::Ledger;
use media_store::MediaStore;
use moment::{Clock, Timestamp};
use payments::{Parts, Payments, Policy};
use serde_json::Value;
use store::Store;
use tempfile::TempDir;
use wallet::{Network, SignInRules, TokenSecret};

use crate::chain;

pub(crate) fn jobs_of(
    store: &Arc<dyn Store>,
    ledger: &Arc<Ledger>,
    engines: &Arc<Engines>,
    folder: &TempDir,
    (clock, entropy): (&Arc<dyn Clock>, &Arc<dyn Entropy>),
) -> Jobs {
    let engines = Arc::clone(engines);
    let parts = jobs::Parts {
        store: Arc::clone(store),
        ledger: Arc::clone(ledger),
        media: MediaStore::directory(&folder.path().join("media")).unwrap(),
        engine_of: Arc::new(move |model| engines.media_engine(model)),
        clock: Arc::clone(clock),
        entropy: Arc::clone(entropy),
        links: LinkSecret([5; 32]),
    };
    let look_every = Duration::from_millis(1);
    Jobs::new(parts, jobs::Settings { look_every, ..jobs::Settings::default() })
}

/// A console of two files and one documentation page; its operator actions echo the request.
pub(crate) fn console(now: Timestamp) -> Console {
    let file = |path: &str| match path {
        "index.html" => Some(Asset { bytes: b"<!doctype html>", tag: "i1" }),
        "assets/main.js" => Some(Asset { bytes: b"export {}", tag: "m1" }),
        _ => None,
    };
    let page = Page { slug: "limits", title: "Limits", markdown: "# Limits\n", tag: "l1" };
    let operate = Arc::new(
        |by: OperatorKey, operation: Value| -> BoxFuture<'static, Result<Value, OperateError>> {
            let told = serde_json::json!({ "asked": operation, "by": by.last6 });
            Box::pin(async move { Ok(told) })
        },
    );
    let assets = Assets { file, pages: vec![page] };
    Console::new(&[5; 32], assets, now).with_operator(operate)
}

/// Wallets on both chains, with the fixture's own domain.
pub(crate) fn wallets(payments: Option<Payments>) -> Wallets {
    let domains = vec!["testhost".to_owned(), "localhost:8080".to_owned()];
    let networks = ["base", "solana"].map(|name| Network::parse(name).unwrap()).to_vec();
    Wallets::new(SignInRules { domains, networks }, payments, TokenSecret([9; 32]))
}

pub(crate) fn payments(parts: Parts) -> Payments {
    let (wait, poll) = (Duration::from_millis(20), Duration::from_millis(1));
    let policy = Policy { wait, poll, ..Policy::default() };
    Payments::new(parts, chain::terms(), policy)
}
