//! Transactions that are not mined in time: one with a higher fee replaces them, and is credited
//! once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::hex;
use money::Nano;
use serde_json::{Value, json};
use store::claim::{PaymentClaim, SentPayment};

use super::crash::at_every_step;
use super::script::Mood;
use super::sightings::claim;
use super::stub::{nodes, stub};
use super::world::{Payer, REPLACE_AFTER, World, world};
use crate::evm::EvmRelayer;
use crate::{EvmSetup, ReconcileSummary, SettleFailure, SettledPayment};

const FIVE: Nano = Nano::from_units(5);

/// The transaction of the only unfinished claim.
async fn sent(world: &World) -> SentPayment {
    let claims = world.store.unfinished_claims().await.unwrap();
    let [claim] = claims.as_slice() else { panic!("{claims:?}") };
    claim.sent.clone()
}

/// A payment that was sent, is not mined, and has been replaced once.
async fn replaced(payer: &Payer) -> World {
    let world = world().await;
    world.chain.set(Mood::Slow);
    world.pay(payer).await.unwrap_err();
    world.clock.advance(REPLACE_AFTER);
    let waiting = ReconcileSummary { waiting: 1, ..ReconcileSummary::default() };
    assert_eq!(world.payments.reconcile().await.unwrap(), waiting);
    assert_eq!(world.chain.waiting(), ["0xours", "0xdearer1"]);
    world
}

async fn told(world: &World, payer: &Payer) -> SettledPayment {
    world.payments.reconcile().await.unwrap();
    assert_eq!(world.balance(payer).await, FIVE);
    world.expect_sound().await;
    world.pay(payer).await.unwrap()
}

#[tokio::test]
async fn what_is_not_mined_in_time_is_sent_for_more_and_counts_once() {
    let payer = Payer::new(1);
    let world = replaced(&payer).await;
    let sent = sent(&world).await;
    assert_eq!(sent.transaction.as_deref(), Some("0xdearer1"));
    assert_eq!(sent.replaced, ["0xours"]);
    assert_eq!(world.pay(&payer).await.unwrap_err().transaction(), Some("0xdearer1"));
    world.chain.mine();
    assert_eq!(told(&world, &payer).await.transaction, "0xdearer1");
}

#[tokio::test]
async fn what_was_replaced_may_be_mined_all_the_same() {
    let payer = Payer::new(1);
    let world = replaced(&payer).await;
    world.chain.mine_the_first();
    assert_eq!(told(&world, &payer).await.transaction, "0xours");
}

#[tokio::test]
async fn each_replacement_has_its_own_time() {
    let payer = Payer::new(1);
    let world = replaced(&payer).await;
    world.payments.reconcile().await.unwrap();
    assert_eq!(sent(&world).await.replaced.len(), 1);
    world.clock.advance(REPLACE_AFTER);
    world.payments.reconcile().await.unwrap();
    assert_eq!(sent(&world).await.replaced, ["0xours", "0xdearer1"]);
    world.chain.mine();
    assert_eq!(told(&world, &payer).await.transaction, "0xdearer2");
}

#[test]
fn killed_at_any_step_of_a_replacement_nothing_is_sent_that_is_not_written_down() {
    for mines_the_first in [true, false] {
        let payer = Payer::new(1);
        let steps = at_every_step(
            Mood::Slow,
            async |world| {
                world.pay(&payer).await.unwrap_err();
                world.clock.advance(REPLACE_AFTER);
                world.payments.reconcile().await.unwrap();
            },
            async |world, step| {
                let claims = world.store.unfinished_claims().await.unwrap();
                let known: Vec<_> = claims.iter().flat_map(|it| it.sent.transactions()).collect();
                let waiting = world.chain.waiting();
                assert!(waiting.iter().all(|name| known.contains(&name)), "after step {step}");
                world.payments.reconcile().await.unwrap();
                if mines_the_first {
                    world.chain.mine_the_first();
                } else {
                    world.chain.mine();
                }
                world.payments.reconcile().await.unwrap();
                assert_eq!(world.claims().await, [], "after step {step}");
                // A payment that was never sent is sent now; for a credited one the result is
                // returned again.
                world.chain.set(Mood::Willing);
                assert_eq!(world.pay(&payer).await.unwrap().balance, FIVE, "after step {step}");
                world.expect_sound().await;
            },
        );
        assert!(15 < steps, "there were {steps} moments to die at");
    }
}

/// The answers of a node to a relayer whose transactions are not mined.
#[derive(Clone)]
struct Said {
    /// The number of the relayer's transactions that are mined.
    mined: u64,
    base_fee: u128,
    coins: u128,
}

const GWEI: u128 = 1_000_000_000;

impl Default for Said {
    fn default() -> Said {
        Said { mined: 7, base_fee: GWEI, coins: 1_000_000_000 * GWEI }
    }
}

type Sent = Arc<Mutex<Vec<String>>>;

async fn relayer(said: Said, gwei_max: u128) -> (EvmRelayer, Sent) {
    relayer_within(said, gwei_max, u128::MAX).await
}

async fn relayer_within(said: Said, gwei_max: u128, gas_max_per_hour: u128) -> (EvmRelayer, Sent) {
    let sent = Sent::default();
    let noted = Arc::clone(&sent);
    let url = stub(Arc::new(move |method, params| answer(&said, &noted, method, params))).await;
    let setup = EvmSetup {
        nodes: nodes(&url),
        relayer_key: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        gas_price_max: gwei_max * GWEI,
        gas_max_per_hour,
        replace_after: Duration::ZERO,
    };
    (EvmRelayer::new(&setup).unwrap(), sent)
}

fn answer(said: &Said, sent: &Sent, method: &str, params: &Value) -> Value {
    match method {
        "eth_getBlockByNumber" => json!({
            "number": "0x3e8",
            "timestamp": "0x1",
            "baseFeePerGas": format!("{:#x}", said.base_fee),
        }),
        "eth_maxPriorityFeePerGas" => json!(format!("{GWEI:#x}")),
        "eth_getBalance" => json!(format!("{:#x}", said.coins)),
        "eth_getTransactionCount" => json!(format!("{:#x}", said.mined)),
        "eth_sendRawTransaction" => {
            sent.lock().unwrap().push(params[0].as_str().unwrap().to_owned());
            json!("0x00")
        }
        other => panic!("{other}"),
    }
}

/// A claim whose transaction is the relayer's own, as `eth-account` signs it: at most 11 gwei.
fn stuck(sequence: u64) -> PaymentClaim {
    let raw = match sequence {
        7 => hex!(
            "02f87482210507843b9aca0085028fa6ae008301731894833589fcd6edb6e08f4c7c32d4f71b54bda029\
             138086e3ee160e00ffc001a00cf99b90efd8fc0feb80821b96cb1ec5f84d6f3070d39e9f2a280cce5a4b\
             ad50a04c6a5bf90c08489e0298461382609593075661968923bf4271317de424e7eab3"
        ),
        8 => hex!(
            "02f87482210508843b9aca0085028fa6ae008301731894833589fcd6edb6e08f4c7c32d4f71b54bda029\
             138086e3ee160e00ffc001a0bc6632c57c359c308a649f5d4e78e7266d2cdb6921c108a6e26967493fa3\
             8670a07ccaccec83cb116032afc5fa99267951fafaf544dedcca2f17ec6b5c1f607505"
        ),
        other => panic!("there is no transaction {other}"),
    };
    let claim = claim();
    let sequence = Some(sequence);
    PaymentClaim { sent: SentPayment { raw: Some(raw.to_vec()), sequence, ..claim.sent }, ..claim }
}

#[tokio::test]
async fn a_replacement_is_the_same_call_for_more() {
    let (relayer, _) = relayer(Said::default(), 50).await;
    let claim = stuck(7);
    let sent = relayer.build_replacement(&claim).await.unwrap().unwrap();
    let (before, after) = (claim.sent.raw.unwrap(), sent.raw.unwrap());
    let (before, after) = (hex::encode(before), hex::encode(&after));
    // Chain, nonce and type; then the tip and the price, both raised by an eighth.
    assert_eq!(before[..14], *"02f87482210507");
    assert_eq!(after[..14], *"02f87482210507");
    assert_eq!(&before[14..36], "843b9aca0085028fa6ae00");
    assert_eq!(&after[14..36], "84430e23408502e19b83c0");
    assert_eq!(after[36..104], before[36..104], "gas, token and input are the same");
    assert_ne!(after[104..], before[104..], "the signature is not");
    let name = hex::encode_prefixed(alloy_primitives::keccak256(hex::decode(&before).unwrap()));
    assert_eq!(sent.replaced, [name]);
    assert_eq!((sent.sequence, sent.since_block), (Some(7), Some(900)));
}

#[tokio::test]
async fn nothing_is_replaced_that_waits_for_another_or_is_mined() {
    for mined in [6, 8] {
        let (relayer, _) = relayer(Said { mined, ..Said::default() }, 50).await;
        assert_eq!(relayer.build_replacement(&stuck(7)).await.unwrap(), None, "{mined} are mined");
    }
}

#[tokio::test]
async fn no_more_is_offered_than_the_operator_allows_and_the_relayer_has() {
    let cases = [
        (Said::default(), 12, "`gas_price_max_gwei`"),
        (Said { base_fee: 60 * GWEI, ..Said::default() }, 50, "`gas_price_max_gwei`"),
        (Said { coins: GWEI, ..Said::default() }, 50, "no funds"),
    ];
    for (said, gwei_max, words) in cases {
        let (relayer, _) = relayer(said, gwei_max).await;
        let Err(SettleFailure::Unable(cause)) = relayer.build_replacement(&stuck(7)).await else {
            panic!("it should have no replacement: {words}");
        };
        assert!(cause.contains(words), "{cause}");
    }
    let (relayer, _) = relayer(Said::default(), 50).await;
    let mut claim = stuck(7);
    claim.sent.replaced = vec!["0xbefore".to_owned(); 16];
    assert!(relayer.build_replacement(&claim).await.is_err(), "it was replaced often enough");
}

#[tokio::test]
async fn the_gas_of_an_hour_is_bounded() {
    // A replacement offers at most 95,000 units of gas at 12.375 gwei.
    let one = 95_000 * 12_375_000_000;
    let (relayer, _) = relayer_within(Said::default(), 50, 2 * one).await;
    for _ in 0..2 {
        assert!(relayer.build_replacement(&stuck(7)).await.is_ok(), "it is within the bound");
    }
    let Err(SettleFailure::Unable(cause)) = relayer.build_replacement(&stuck(7)).await else {
        panic!("a third one is beyond it");
    };
    assert!(cause.contains("`gas_max_per_hour`"), "{cause}");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3661)).await;
    tokio::time::resume();
    assert!(relayer.build_replacement(&stuck(7)).await.is_ok(), "the hour is over");
}

#[tokio::test]
async fn nothing_is_replaced_that_another_key_has_signed() {
    let (relayer, sent) = relayer(Said::default(), 50).await;
    let mut claim = stuck(7);
    *claim.sent.raw.as_mut().unwrap().last_mut().unwrap() ^= 1;
    assert_eq!(relayer.build_replacement(&claim).await.unwrap(), None);
    (claim.sent.raw, claim.sent.sequence) = (stuck(8).sent.raw, Some(8));
    *claim.sent.raw.as_mut().unwrap().last_mut().unwrap() ^= 1;
    relayer.clear_blocked_nonce(&[claim], &[]).await.unwrap();
    assert_eq!(sent.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_number_that_no_payment_needs_is_filled_when_others_wait_behind_it() {
    let (relayer, sent) = relayer(Said::default(), 50).await;
    relayer.clear_blocked_nonce(&[stuck(7), stuck(8)], &[]).await.unwrap();
    assert_eq!(sent.lock().unwrap().len(), 0, "number 7 is a payment's");
    relayer.clear_blocked_nonce(&[stuck(8)], &[]).await.unwrap();
    relayer.clear_blocked_nonce(&[stuck(8)], &[]).await.unwrap();
    let sent = sent.lock().unwrap();
    let [first, second] = sent.as_slice() else { panic!("{sent:?}") };
    // Nonce 7, to the relayer itself, without input; with higher fees the second time.
    for raw in [first, second] {
        assert!(raw[8..].starts_with("82210507"), "{raw}");
        assert!(raw.contains("94f39fd6e51aad88f6f4ce6ab8827279cfffb922668080c0"), "{raw}");
    }
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_credited_payment_that_its_chain_took_back_is_sent_and_not_filled() {
    let credited = |transaction: String| {
        let mut claim = stuck(7);
        claim.sent.transaction = Some(transaction);
        claim
    };
    let raw = stuck(7).sent.raw.unwrap();
    let ours = credited(hex::encode_prefixed(alloy_primitives::keccak256(&raw)));
    let (first, sent) = relayer(Said::default(), 50).await;
    first.clear_blocked_nonce(&[stuck(8)], &[ours]).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [hex::encode_prefixed(&raw)]);
    // Another account's transaction moved that money, and ours has no effect.
    let theirs = credited("0xtheirs".to_owned());
    let (second, sent) = relayer(Said::default(), 50).await;
    second.clear_blocked_nonce(&[stuck(8)], &[theirs]).await.unwrap();
    let sent = sent.lock().unwrap();
    assert!(sent.len() == 1 && sent[0] != hex::encode_prefixed(&raw), "{sent:?}");
}

#[tokio::test]
async fn a_row_that_nothing_holds_up_is_left_alone() {
    for mined in [7, 8, 9] {
        let (relayer, sent) = relayer(Said { mined, ..Said::default() }, 50).await;
        relayer.clear_blocked_nonce(&[stuck(7)], &[]).await.unwrap();
        relayer.clear_blocked_nonce(&[], &[]).await.unwrap();
        assert_eq!(sent.lock().unwrap().len(), 0, "{mined} are mined");
    }
}
