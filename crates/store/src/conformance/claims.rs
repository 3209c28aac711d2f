//! Claims of wallet payments: claimed once, never credited twice, never deleted too early.

use money::Nano;

use crate::Store;
use crate::claim::{
    CLAIMS_MAX, Claim, ClaimCredit, ClaimId, ClaimSpan, ClaimState, ClaimStep, CreditedSum,
    ReceivedPayment, SentPayment,
};
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, entry_id, refused};
use crate::error::StoreError;
use crate::write::Write;

use ClaimState::{Failed, Submitted, Unknown, Verified};

pub(crate) const CASES: Cases = &[
    ("a claim is found as it was opened", |store| Box::pin(opened(store))),
    ("a payment is claimed once", |store| Box::pin(claimed_once(store))),
    ("what the chain spends once is claimed once, whatever its id", |store| {
        Box::pin(spent_once(store))
    }),
    ("what is sent is in the claim before it is sent", |store| Box::pin(submitted(store))),
    ("what is sent in place of something keeps the name of what it replaces", |store| {
        Box::pin(replaced(store))
    }),
    ("a claim is credited from any state but that, and then never changes", |store| {
        Box::pin(credited(store))
    }),
    ("a claim that failed can be taken up again and has forgotten what was sent", |store| {
        Box::pin(taken_up_again(store))
    }),
    ("steps that a state does not allow are refused", |store| Box::pin(forbidden(store))),
    ("unfinished claims are listed, the oldest first", |store| Box::pin(unfinished(store))),
    ("credits are summed by network", |store| Box::pin(summed(store))),
    ("claims of a state are listed by the time of their last step", |store| {
        Box::pin(changed_within(store))
    }),
    ("a list that one answer cannot carry goes on from its last claim", |store| {
        Box::pin(paged(store))
    }),
    ("a step from a state that the claim has left changes nothing", |store| {
        Box::pin(seen_before(store))
    }),
    ("claims are listed for people, the newest first", |store| Box::pin(listed(store))),
    ("money that came for a failed claim is noted until it is credited or given up", |store| {
        Box::pin(received(store))
    }),
    ("a credited claim may be missing, and found again", |store| Box::pin(missing(store))),
    ("only claims that failed long ago are dropped", |store| Box::pin(dropped(store))),
];

fn id(number: u8) -> ClaimId {
    ClaimId([number; 20])
}

fn claim(number: u8) -> Claim {
    Claim {
        id: id(number),
        network: "eip155:8453".into(),
        asset: "0xa".into(),
        payer: format!("0x{number}"),
        nonce: [number; 32],
        pay_to: "0xb".into(),
        units: 5_000_000,
        payment: "{}".into(),
        state: ClaimState::Verified,
        sent: SentPayment::default(),
        sent_at: None,
        credit: None,
        reason: None,
        created: at(i64::from(number)),
        changed: at(i64::from(number)),
    }
}

fn open(number: u8) -> Write {
    Write::OpenClaim(claim(number))
}

fn advance(number: u8, from: ClaimState, step: ClaimStep) -> Write {
    Write::AdvanceClaim { claim: id(number), from, step, at: at(100) }
}

fn lose_sight(number: u8) -> Write {
    advance(number, Submitted, ClaimStep::LoseSight { transaction: None })
}

fn sent() -> SentPayment {
    SentPayment {
        transaction: Some("0xff".into()),
        raw: Some(vec![2, 3]),
        sequence: Some(7),
        since_block: Some(40),
        replaced: Vec::new(),
    }
}

fn dearer() -> SentPayment {
    SentPayment {
        transaction: Some("0xee".into()),
        raw: Some(vec![4, 5]),
        replaced: vec!["0xff".into()],
        ..sent()
    }
}

fn submit(number: u8) -> Write {
    advance(number, Verified, ClaimStep::Submit(sent()))
}

fn fail(number: u8, from: ClaimState) -> Write {
    advance(number, from, ClaimStep::Fail { reason: "insufficient_funds".into() })
}

fn credit(number: u8, from: ClaimState, units: i32) -> Write {
    advance(number, from, credit_step(number, units))
}

fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Missing(_))
}

fn credit_step(number: u8, units: i32) -> ClaimStep {
    let (entry, amount) = (entry_id(u128::from(number)), Nano::from_units(units));
    ClaimStep::Credit { transaction: "0xff".into(), credit: ClaimCredit { entry, amount } }
}

async fn found(store: &dyn Store, number: u8) -> Claim {
    store.claim(id(number)).await.expect("asked").expect("the claim is there")
}

async fn opened(store: &dyn Store) {
    assert_eq!(store.claim(id(1)).await.expect("asked"), None);
    done(store, vec![open(1)]).await;
    assert_eq!(found(store, 1).await, claim(1));
}

async fn claimed_once(store: &dyn Store) {
    done(store, vec![open(1)]).await;
    for step in [submit(1), lose_sight(1), credit(1, Unknown, 5)] {
        assert!(matches!(refused(store, vec![open(1)]).await, StoreError::Duplicate(_)));
        done(store, vec![step]).await;
    }
    assert!(matches!(refused(store, vec![open(1)]).await, StoreError::Duplicate(_)));
}

async fn spent_once(store: &dyn Store) {
    done(store, vec![open(1)]).await;
    let other = Claim { id: id(2), ..claim(1) };
    let error = refused(store, vec![Write::OpenClaim(other)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn submitted(store: &dyn Store) {
    done(store, vec![open(1), submit(1)]).await;
    let submitted = found(store, 1).await;
    assert_eq!((submitted.state, &submitted.sent), (ClaimState::Submitted, &sent()));
    done(store, vec![lose_sight(1)]).await;
    let unknown = found(store, 1).await;
    assert_eq!((unknown.state, unknown.sent), (ClaimState::Unknown, sent()));
    let learnt = ClaimStep::LoseSight { transaction: Some("0xee".into()) };
    done(store, vec![advance(1, Unknown, learnt)]).await;
    assert_eq!(found(store, 1).await.sent.transaction.as_deref(), Some("0xee"));
}

async fn replaced(store: &dyn Store) {
    let replace = |from, sent| advance(1, from, ClaimStep::Replace(sent));
    done(store, vec![open(1)]).await;
    let error = refused(store, vec![replace(Submitted, dearer())]).await;
    assert!(matches!(error, StoreError::Missing(_)), "nothing was sent: {error}");
    done(store, vec![submit(1)]).await;
    assert_eq!(found(store, 1).await.sent_at, Some(at(100)));
    let of_another_number = SentPayment { sequence: Some(8), ..dearer() };
    let error = refused(store, vec![replace(Submitted, of_another_number)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "it would be a second payment: {error}");
    let step = ClaimStep::Replace(dearer());
    let later = Write::AdvanceClaim { claim: id(1), from: Submitted, step, at: at(150) };
    done(store, vec![later]).await;
    let replaced = found(store, 1).await;
    assert_eq!((replaced.state, &replaced.sent), (ClaimState::Submitted, &dearer()));
    assert_eq!(replaced.sent_at, Some(at(150)));
    done(store, vec![lose_sight(1)]).await;
    let names = vec!["0xff".into(), "0xee".into()];
    let again = SentPayment { transaction: Some("0xdd".into()), replaced: names, ..dearer() };
    done(store, vec![replace(Unknown, again.clone())]).await;
    let replaced = found(store, 1).await;
    assert_eq!((replaced.state, &replaced.sent), (ClaimState::Unknown, &again));
    let all: Vec<_> = replaced.sent.transactions().collect();
    assert_eq!(all, ["0xdd", "0xff", "0xee"]);
    done(store, vec![fail(1, Unknown), open(1)]).await;
    assert_eq!(found(store, 1).await, claim(1), "it has forgotten what was sent");
}

async fn credited(store: &dyn Store) {
    for number in [1, 2, 3, 4] {
        done(store, vec![open(number)]).await;
    }
    done(store, vec![submit(2), submit(3)]).await;
    done(store, vec![lose_sight(3), fail(4, Verified)]).await;
    for (number, from) in [(1, Verified), (2, Submitted), (3, Unknown), (4, Failed)] {
        done(store, vec![credit(number, from, 5)]).await;
        let credited = found(store, number).await;
        assert_eq!(credited.state, ClaimState::Credited);
        let amount = credited.credit.map(|credit| credit.amount);
        assert_eq!(amount, Some(Nano::from_units(5)));
        for from in [Verified, Submitted, Unknown, Failed, ClaimState::Credited] {
            for step in [submit(number), fail(number, from), credit(number, from, 6)] {
                assert!(is_missing(&refused(store, vec![step]).await));
            }
        }
    }
}

/// A step from a state that the claim has left changes nothing.
async fn seen_before(store: &dyn Store) {
    done(store, vec![open(1), submit(1)]).await;
    for stale in [fail(1, Verified), credit(1, Verified, 5)] {
        assert!(is_missing(&refused(store, vec![stale]).await));
    }
    done(store, vec![lose_sight(1)]).await;
    for stale in [fail(1, Submitted), credit(1, Submitted, 5), lose_sight(1)] {
        assert!(is_missing(&refused(store, vec![stale]).await));
    }
    assert_eq!(found(store, 1).await.state, Unknown);
}

async fn taken_up_again(store: &dyn Store) {
    done(store, vec![open(1), submit(1)]).await;
    done(store, vec![fail(1, Submitted)]).await;
    let failed = found(store, 1).await;
    assert_eq!(failed.reason.as_deref(), Some("insufficient_funds"));
    assert_eq!(failed.sent, sent());
    let again = Claim { created: at(200), changed: at(200), ..claim(1) };
    done(store, vec![Write::OpenClaim(again.clone())]).await;
    assert_eq!(found(store, 1).await, again);
}

async fn forbidden(store: &dyn Store) {
    assert!(is_missing(&refused(store, vec![submit(1)]).await));
    done(store, vec![open(1)]).await;
    for from in [Verified, Submitted] {
        let lost = advance(1, from, ClaimStep::LoseSight { transaction: None });
        assert!(is_missing(&refused(store, vec![lost]).await));
    }
    done(store, vec![submit(1)]).await;
    assert!(is_missing(&refused(store, vec![submit(1)]).await));
    done(store, vec![fail(1, Submitted)]).await;
    for step in [submit(1), fail(1, Failed), fail(1, Submitted)] {
        assert!(is_missing(&refused(store, vec![step]).await));
    }
}

async fn unfinished(store: &dyn Store) {
    for number in [3, 1, 2, 4, 5] {
        done(store, vec![open(number)]).await;
    }
    done(store, vec![submit(2), submit(3), fail(4, Verified), credit(5, Verified, 5)]).await;
    done(store, vec![lose_sight(3)]).await;
    let listed = store.unfinished_claims().await.expect("asked");
    let listed: Vec<_> = listed.iter().map(|claim| (claim.id, claim.state)).collect();
    let expected = [
        (id(1), ClaimState::Verified),
        (id(2), ClaimState::Submitted),
        (id(3), ClaimState::Unknown),
    ];
    assert_eq!(listed, expected);
}

async fn summed(store: &dyn Store) {
    let solana = Claim { network: "solana:5eykt".into(), ..claim(3) };
    done(store, vec![open(1), open(2), Write::OpenClaim(solana), open(4)]).await;
    let credits = [(1, 5), (2, 6), (3, 7)];
    done(store, credits.map(|(number, units)| credit(number, Verified, units)).to_vec()).await;
    let sum = |network: &str, claims, units| CreditedSum {
        network: network.into(),
        claims,
        amount: Nano::from_units(units),
    };
    assert_eq!(
        store.credited_claims().await.expect("asked"),
        [sum("eip155:8453", 2, 11), sum("solana:5eykt", 1, 7)]
    );
}

async fn changed_within(store: &dyn Store) {
    done(store, vec![open(1), open(2), open(3), open(4)]).await;
    for (number, ms) in [(1, 100), (2, 200), (3, 300)] {
        let step = credit_step(number, 5);
        let write = Write::AdvanceClaim { claim: id(number), from: Verified, step, at: at(ms) };
        done(store, vec![write]).await;
    }
    done(store, vec![fail(4, Verified)]).await;
    let listed = async |state, after, until| {
        let span = ClaimSpan { state, after: at(after), until: at(until) };
        let claims = store.claims_changed(span, None).await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(ClaimState::Credited, 0, 1000).await, [id(1), id(2), id(3)]);
    assert_eq!(listed(ClaimState::Credited, 100, 300).await, [id(2), id(3)]);
    assert_eq!(listed(ClaimState::Credited, 300, 1000).await, []);
    assert_eq!(listed(Failed, 0, 1000).await, [id(4)]);
}

/// Claims with the same time, and more than one query returns.
async fn paged(store: &dyn Store) {
    let all = CLAIMS_MAX + 5;
    let mut writes = Vec::new();
    for number in 0..all {
        let bytes = u64::try_from(number).expect("a small number").to_be_bytes();
        let mut claim = claim(1);
        claim.id.0[..8].copy_from_slice(&bytes);
        claim.nonce[..8].copy_from_slice(&bytes);
        let (id, step) = (claim.id, ClaimStep::Fail { reason: "no".into() });
        writes.push(Write::OpenClaim(claim));
        writes.push(Write::AdvanceClaim { claim: id, from: Verified, step, at: at(100) });
    }
    done(store, writes).await;
    let span = ClaimSpan { state: Failed, after: at(99), until: at(100) };
    let first = store.claims_changed(span, None).await.expect("asked");
    assert_eq!(first.len(), CLAIMS_MAX);
    let place = first.last().map(Claim::cursor);
    let second = store.claims_changed(span, place).await.expect("asked");
    assert_eq!(second.len(), 5);
    assert!(first.last().map(|claim| claim.id) < second.first().map(|claim| claim.id));
    let place = second.last().map(Claim::cursor);
    assert_eq!(store.claims_changed(span, place).await.expect("asked"), []);
}

async fn listed(store: &dyn Store) {
    done(store, vec![open(1), open(2), open(3)]).await;
    done(store, vec![submit(2), fail(3, Verified)]).await;
    let ids = async |state, limit| {
        let claims = store.list_claims(state, limit).await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, 10).await, [id(3), id(2), id(1)]);
    assert_eq!(ids(None, 2).await, [id(3), id(2)]);
    assert_eq!(ids(Some(Submitted), 10).await, [id(2)]);
}

async fn received(store: &dyn Store) {
    let received = ReceivedPayment { transaction: "0xcc".into(), amount: Nano::from_units(5) };
    let note = |number| Write::NoteReceivedClaim {
        claim: id(number),
        received: received.clone(),
        at: at(500),
    };
    let listed = async || {
        let claims = store.received_claims().await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    done(store, vec![open(1), open(2), open(3)]).await;
    done(store, vec![fail(1, Verified), fail(2, Verified)]).await;
    done(store, vec![note(1), note(1), note(2), note(3), note(4)]).await;
    assert_eq!(listed().await, [id(1), id(2)], "the others have not failed");
    let evidence = store.evidence().await.expect("asked").received;
    let told: Vec<_> = evidence.iter().map(|it| (it.claim, it.transaction.as_str())).collect();
    assert_eq!(told, [(id(1), "0xcc"), (id(2), "0xcc")]);
    done(store, vec![Write::DropFailedClaims { before: at(1000), rows_max: 10 }]).await;
    assert_eq!(listed().await, [id(1), id(2)], "they are not forgotten");
    done(store, vec![credit(1, Failed, 5)]).await;
    assert_eq!(listed().await, [id(2)]);
    done(store, vec![Write::DropReceivedClaim(id(2))]).await;
    assert_eq!(listed().await, []);
    done(store, vec![note(2)]).await;
    assert_eq!(listed().await, [id(2)]);
}

async fn missing(store: &dyn Store) {
    let note = |number| Write::NoteMissingClaim { claim: id(number), at: at(500) };
    let listed = async || {
        let claims = store.missing_claims().await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    done(store, vec![open(1), open(2)]).await;
    done(store, vec![credit(1, Verified, 5), submit(2)]).await;
    done(store, vec![note(1), note(1), note(2), note(3)]).await;
    assert_eq!(listed().await, [id(1)], "the others are not credited");
    let evidence = store.evidence().await.expect("asked").missing;
    let told: Vec<_> = evidence.iter().map(|it| (it.transaction.as_str(), it.since)).collect();
    assert_eq!(told, [("0xff", at(500))]);
    done(store, vec![Write::NoteFoundClaim(id(1)), Write::NoteFoundClaim(id(2))]).await;
    assert_eq!(listed().await, []);
    done(store, vec![note(1)]).await;
    assert_eq!(listed().await, [id(1)]);
}

async fn dropped(store: &dyn Store) {
    for number in [1, 2, 3, 4] {
        done(store, vec![open(number)]).await;
    }
    done(store, vec![fail(1, Verified), fail(2, Verified), credit(3, Verified, 5)]).await;
    let drop = |ms, rows_max| vec![Write::DropFailedClaims { before: at(ms), rows_max }];
    done(store, drop(100, 10)).await;
    assert!(store.claim(id(1)).await.expect("asked").is_some());
    done(store, drop(101, 1)).await;
    let mut left = 0;
    for number in [1, 2, 3, 4] {
        left += usize::from(store.claim(id(number)).await.expect("asked").is_some());
    }
    assert_eq!(left, 3);
    done(store, drop(101, 10)).await;
    for (number, is_there) in [(1, false), (2, false), (3, true), (4, true)] {
        assert_eq!(store.claim(id(number)).await.expect("asked").is_some(), is_there);
    }
}
