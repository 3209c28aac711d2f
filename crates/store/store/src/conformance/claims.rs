//! Claims of wallet payments: claimed once, never credited twice, never deleted too early.

use money::Nano;

use crate::Store;
use crate::claim::{
    CLAIMS_MAX, ClaimCredit, ClaimId, ClaimSpan, ClaimState, ClaimStep, CreditedSum, PaymentClaim,
    ReceivedPayment, SentPayment,
};
use crate::conformance::CaseTable;
use crate::conformance::fixture::{commit_writes, entry_id, expect_refusal, today_at};
use crate::error::StoreError;
use crate::write::StoreWrite;

use ClaimState::{Failed, Submitted, Unknown, Verified};

pub(crate) const CASES: CaseTable = &[
    ("a claim is found as it was opened", |store| Box::pin(check_open(store))),
    ("a payment is claimed once", |store| Box::pin(check_claimed_once(store))),
    ("what the chain spends once is claimed once, whatever its id", |store| {
        Box::pin(check_spent_once(store))
    }),
    ("what is sent is in the claim before it is sent", |store| Box::pin(check_submit(store))),
    ("what is sent in place of something keeps the name of what it replaces", |store| {
        Box::pin(check_replace(store))
    }),
    ("a claim is credited from any state but that, and then never changes", |store| {
        Box::pin(check_credit(store))
    }),
    ("a claim that failed can be taken up again and has forgotten what was sent", |store| {
        Box::pin(check_reopen(store))
    }),
    ("steps that a state does not allow are refused", |store| {
        Box::pin(check_forbidden_steps(store))
    }),
    ("unfinished claims are listed, the oldest first", |store| {
        Box::pin(check_unfinished_list(store))
    }),
    ("credits are summed by network", |store| Box::pin(check_credited_sums(store))),
    ("claims of a state are listed by the time of their last step", |store| {
        Box::pin(check_changed_list(store))
    }),
    ("a list that one answer cannot carry goes on from its last claim", |store| {
        Box::pin(check_paging(store))
    }),
    ("a step from a state that the claim has left changes nothing", |store| {
        Box::pin(check_outdated_step(store))
    }),
    ("claims are listed for people, the newest first", |store| Box::pin(check_list(store))),
    ("money that came for a failed claim is noted until it is credited or given up", |store| {
        Box::pin(check_received_payment(store))
    }),
    ("a credited claim may be missing, and found again", |store| {
        Box::pin(check_missing_claim(store))
    }),
    ("only claims that failed long ago are dropped", |store| Box::pin(check_deletion(store))),
];

fn build_claim_id(number: u8) -> ClaimId {
    ClaimId([number; 20])
}

fn build_claim(number: u8) -> PaymentClaim {
    PaymentClaim {
        id: build_claim_id(number),
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
        created: today_at(i64::from(number)),
        changed: today_at(i64::from(number)),
    }
}

fn open_claim(number: u8) -> StoreWrite {
    StoreWrite::OpenClaim(build_claim(number))
}

fn advance_claim(number: u8, from: ClaimState, step: ClaimStep) -> StoreWrite {
    StoreWrite::AdvanceClaim { claim: build_claim_id(number), from, step, at: today_at(100) }
}

fn lose_sight(number: u8) -> StoreWrite {
    advance_claim(number, Submitted, ClaimStep::LoseSight { transaction: None })
}

fn build_sent_payment() -> SentPayment {
    SentPayment {
        transaction: Some("0xff".into()),
        raw: Some(vec![2, 3]),
        sequence: Some(7),
        since_block: Some(40),
        replaced: Vec::new(),
    }
}

fn build_replacement() -> SentPayment {
    SentPayment {
        transaction: Some("0xee".into()),
        raw: Some(vec![4, 5]),
        replaced: vec!["0xff".into()],
        ..build_sent_payment()
    }
}

fn submit_claim(number: u8) -> StoreWrite {
    advance_claim(number, Verified, ClaimStep::Submit(build_sent_payment()))
}

fn fail_claim(number: u8, from: ClaimState) -> StoreWrite {
    advance_claim(number, from, ClaimStep::Fail { reason: "insufficient_funds".into() })
}

fn credit_claim(number: u8, from: ClaimState, units: i32) -> StoreWrite {
    advance_claim(number, from, credit_step(number, units))
}

fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::Missing(_))
}

fn credit_step(number: u8, units: i32) -> ClaimStep {
    let (entry, amount) = (entry_id(u128::from(number)), Nano::from_units(units));
    ClaimStep::Credit { transaction: "0xff".into(), credit: ClaimCredit { entry, amount } }
}

async fn read_claim(store: &dyn Store, number: u8) -> PaymentClaim {
    store.claim(build_claim_id(number)).await.expect("asked").expect("the claim is there")
}

async fn check_open(store: &dyn Store) {
    assert_eq!(store.claim(build_claim_id(1)).await.expect("asked"), None);
    commit_writes(store, vec![open_claim(1)]).await;
    assert_eq!(read_claim(store, 1).await, build_claim(1));
}

async fn check_claimed_once(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1)]).await;
    for step in [submit_claim(1), lose_sight(1), credit_claim(1, Unknown, 5)] {
        assert!(matches!(
            expect_refusal(store, vec![open_claim(1)]).await,
            StoreError::Duplicate(_)
        ));
        commit_writes(store, vec![step]).await;
    }
    assert!(matches!(expect_refusal(store, vec![open_claim(1)]).await, StoreError::Duplicate(_)));
}

async fn check_spent_once(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1)]).await;
    let other = PaymentClaim { id: build_claim_id(2), ..build_claim(1) };
    let error = expect_refusal(store, vec![StoreWrite::OpenClaim(other)]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn check_submit(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1), submit_claim(1)]).await;
    let submitted = read_claim(store, 1).await;
    assert_eq!((submitted.state, &submitted.sent), (ClaimState::Submitted, &build_sent_payment()));
    commit_writes(store, vec![lose_sight(1)]).await;
    let unknown = read_claim(store, 1).await;
    assert_eq!((unknown.state, unknown.sent), (ClaimState::Unknown, build_sent_payment()));
    let learnt = ClaimStep::LoseSight { transaction: Some("0xee".into()) };
    commit_writes(store, vec![advance_claim(1, Unknown, learnt)]).await;
    assert_eq!(read_claim(store, 1).await.sent.transaction.as_deref(), Some("0xee"));
}

async fn check_replace(store: &dyn Store) {
    let replace = |from, sent| advance_claim(1, from, ClaimStep::Replace(sent));
    commit_writes(store, vec![open_claim(1)]).await;
    let error = expect_refusal(store, vec![replace(Submitted, build_replacement())]).await;
    assert!(matches!(error, StoreError::Missing(_)), "nothing was sent: {error}");
    commit_writes(store, vec![submit_claim(1)]).await;
    assert_eq!(read_claim(store, 1).await.sent_at, Some(today_at(100)));
    let of_another_number = SentPayment { sequence: Some(8), ..build_replacement() };
    let error = expect_refusal(store, vec![replace(Submitted, of_another_number)]).await;
    assert!(matches!(error, StoreError::Missing(_)), "it would be a second payment: {error}");
    let step = ClaimStep::Replace(build_replacement());
    let later = StoreWrite::AdvanceClaim {
        claim: build_claim_id(1),
        from: Submitted,
        step,
        at: today_at(150),
    };
    commit_writes(store, vec![later]).await;
    let replaced = read_claim(store, 1).await;
    assert_eq!((replaced.state, &replaced.sent), (ClaimState::Submitted, &build_replacement()));
    assert_eq!(replaced.sent_at, Some(today_at(150)));
    commit_writes(store, vec![lose_sight(1)]).await;
    let names = vec!["0xff".into(), "0xee".into()];
    let again =
        SentPayment { transaction: Some("0xdd".into()), replaced: names, ..build_replacement() };
    commit_writes(store, vec![replace(Unknown, again.clone())]).await;
    let replaced = read_claim(store, 1).await;
    assert_eq!((replaced.state, &replaced.sent), (ClaimState::Unknown, &again));
    let all: Vec<_> = replaced.sent.transactions().collect();
    assert_eq!(all, ["0xdd", "0xff", "0xee"]);
    commit_writes(store, vec![fail_claim(1, Unknown), open_claim(1)]).await;
    assert_eq!(read_claim(store, 1).await, build_claim(1), "it has forgotten what was sent");
}

async fn check_credit(store: &dyn Store) {
    for number in [1, 2, 3, 4] {
        commit_writes(store, vec![open_claim(number)]).await;
    }
    commit_writes(store, vec![submit_claim(2), submit_claim(3)]).await;
    commit_writes(store, vec![lose_sight(3), fail_claim(4, Verified)]).await;
    for (number, from) in [(1, Verified), (2, Submitted), (3, Unknown), (4, Failed)] {
        commit_writes(store, vec![credit_claim(number, from, 5)]).await;
        let credited = read_claim(store, number).await;
        assert_eq!(credited.state, ClaimState::Credited);
        let amount = credited.credit.map(|credit| credit.amount);
        assert_eq!(amount, Some(Nano::from_units(5)));
        for from in [Verified, Submitted, Unknown, Failed, ClaimState::Credited] {
            for step in
                [submit_claim(number), fail_claim(number, from), credit_claim(number, from, 6)]
            {
                assert!(is_missing(&expect_refusal(store, vec![step]).await));
            }
        }
    }
}

/// A step from a state that the claim has left changes nothing.
async fn check_outdated_step(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1), submit_claim(1)]).await;
    for stale in [fail_claim(1, Verified), credit_claim(1, Verified, 5)] {
        assert!(is_missing(&expect_refusal(store, vec![stale]).await));
    }
    commit_writes(store, vec![lose_sight(1)]).await;
    for stale in [fail_claim(1, Submitted), credit_claim(1, Submitted, 5), lose_sight(1)] {
        assert!(is_missing(&expect_refusal(store, vec![stale]).await));
    }
    assert_eq!(read_claim(store, 1).await.state, Unknown);
}

async fn check_reopen(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1), submit_claim(1)]).await;
    commit_writes(store, vec![fail_claim(1, Submitted)]).await;
    let failed = read_claim(store, 1).await;
    assert_eq!(failed.reason.as_deref(), Some("insufficient_funds"));
    assert_eq!(failed.sent, build_sent_payment());
    let again = PaymentClaim { created: today_at(200), changed: today_at(200), ..build_claim(1) };
    commit_writes(store, vec![StoreWrite::OpenClaim(again.clone())]).await;
    assert_eq!(read_claim(store, 1).await, again);
}

async fn check_forbidden_steps(store: &dyn Store) {
    assert!(is_missing(&expect_refusal(store, vec![submit_claim(1)]).await));
    commit_writes(store, vec![open_claim(1)]).await;
    for from in [Verified, Submitted] {
        let lost = advance_claim(1, from, ClaimStep::LoseSight { transaction: None });
        assert!(is_missing(&expect_refusal(store, vec![lost]).await));
    }
    commit_writes(store, vec![submit_claim(1)]).await;
    assert!(is_missing(&expect_refusal(store, vec![submit_claim(1)]).await));
    commit_writes(store, vec![fail_claim(1, Submitted)]).await;
    for step in [submit_claim(1), fail_claim(1, Failed), fail_claim(1, Submitted)] {
        assert!(is_missing(&expect_refusal(store, vec![step]).await));
    }
}

async fn check_unfinished_list(store: &dyn Store) {
    for number in [3, 1, 2, 4, 5] {
        commit_writes(store, vec![open_claim(number)]).await;
    }
    commit_writes(
        store,
        vec![
            submit_claim(2),
            submit_claim(3),
            fail_claim(4, Verified),
            credit_claim(5, Verified, 5),
        ],
    )
    .await;
    commit_writes(store, vec![lose_sight(3)]).await;
    let listed = store.unfinished_claims().await.expect("asked");
    let listed: Vec<_> = listed.iter().map(|claim| (claim.id, claim.state)).collect();
    let expected = [
        (build_claim_id(1), ClaimState::Verified),
        (build_claim_id(2), ClaimState::Submitted),
        (build_claim_id(3), ClaimState::Unknown),
    ];
    assert_eq!(listed, expected);
}

async fn check_credited_sums(store: &dyn Store) {
    let solana = PaymentClaim { network: "solana:5eykt".into(), ..build_claim(3) };
    commit_writes(
        store,
        vec![open_claim(1), open_claim(2), StoreWrite::OpenClaim(solana), open_claim(4)],
    )
    .await;
    let credits = [(1, 5), (2, 6), (3, 7)];
    commit_writes(
        store,
        credits.map(|(number, units)| credit_claim(number, Verified, units)).to_vec(),
    )
    .await;
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

async fn check_changed_list(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1), open_claim(2), open_claim(3), open_claim(4)]).await;
    for (number, ms) in [(1, 100), (2, 200), (3, 300)] {
        let step = credit_step(number, 5);
        let write = StoreWrite::AdvanceClaim {
            claim: build_claim_id(number),
            from: Verified,
            step,
            at: today_at(ms),
        };
        commit_writes(store, vec![write]).await;
    }
    commit_writes(store, vec![fail_claim(4, Verified)]).await;
    let listed = async |state, after, until| {
        let span = ClaimSpan { state, after: today_at(after), until: today_at(until) };
        let claims = store.claims_changed(span, None).await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    assert_eq!(
        listed(ClaimState::Credited, 0, 1000).await,
        [build_claim_id(1), build_claim_id(2), build_claim_id(3)]
    );
    assert_eq!(
        listed(ClaimState::Credited, 100, 300).await,
        [build_claim_id(2), build_claim_id(3)]
    );
    assert_eq!(listed(ClaimState::Credited, 300, 1000).await, []);
    assert_eq!(listed(Failed, 0, 1000).await, [build_claim_id(4)]);
}

/// Claims with the same time, and more than one query returns.
async fn check_paging(store: &dyn Store) {
    let all = CLAIMS_MAX + 5;
    let mut writes = Vec::new();
    for number in 0..all {
        let bytes = u64::try_from(number).expect("a small number").to_be_bytes();
        let mut claim = build_claim(1);
        claim.id.0[..8].copy_from_slice(&bytes);
        claim.nonce[..8].copy_from_slice(&bytes);
        let (id, step) = (claim.id, ClaimStep::Fail { reason: "no".into() });
        writes.push(StoreWrite::OpenClaim(claim));
        writes.push(StoreWrite::AdvanceClaim {
            claim: id,
            from: Verified,
            step,
            at: today_at(100),
        });
    }
    commit_writes(store, writes).await;
    let span = ClaimSpan { state: Failed, after: today_at(99), until: today_at(100) };
    let first = store.claims_changed(span, None).await.expect("asked");
    assert_eq!(first.len(), CLAIMS_MAX);
    let place = first.last().map(PaymentClaim::cursor);
    let second = store.claims_changed(span, place).await.expect("asked");
    assert_eq!(second.len(), 5);
    assert!(first.last().map(|claim| claim.id) < second.first().map(|claim| claim.id));
    let place = second.last().map(PaymentClaim::cursor);
    assert_eq!(store.claims_changed(span, place).await.expect("asked"), []);
}

async fn check_list(store: &dyn Store) {
    commit_writes(store, vec![open_claim(1), open_claim(2), open_claim(3)]).await;
    commit_writes(store, vec![submit_claim(2), fail_claim(3, Verified)]).await;
    let ids = async |state, limit| {
        let claims = store.list_claims(state, limit).await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, 10).await, [build_claim_id(3), build_claim_id(2), build_claim_id(1)]);
    assert_eq!(ids(None, 2).await, [build_claim_id(3), build_claim_id(2)]);
    assert_eq!(ids(Some(Submitted), 10).await, [build_claim_id(2)]);
}

async fn check_received_payment(store: &dyn Store) {
    let received = ReceivedPayment { transaction: "0xcc".into(), amount: Nano::from_units(5) };
    let note = |number| StoreWrite::NoteReceivedClaim {
        claim: build_claim_id(number),
        received: received.clone(),
        at: today_at(500),
    };
    let listed = async || {
        let claims = store.received_claims().await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    commit_writes(store, vec![open_claim(1), open_claim(2), open_claim(3)]).await;
    commit_writes(store, vec![fail_claim(1, Verified), fail_claim(2, Verified)]).await;
    commit_writes(store, vec![note(1), note(1), note(2), note(3), note(4)]).await;
    assert_eq!(
        listed().await,
        [build_claim_id(1), build_claim_id(2)],
        "the others have not failed"
    );
    let evidence = store.read_evidence().await.expect("asked").received;
    let told: Vec<_> = evidence.iter().map(|it| (it.claim, it.transaction.as_str())).collect();
    assert_eq!(told, [(build_claim_id(1), "0xcc"), (build_claim_id(2), "0xcc")]);
    commit_writes(
        store,
        vec![StoreWrite::DropFailedClaims { before: today_at(1000), rows_max: 10 }],
    )
    .await;
    assert_eq!(listed().await, [build_claim_id(1), build_claim_id(2)], "they are not forgotten");
    commit_writes(store, vec![credit_claim(1, Failed, 5)]).await;
    assert_eq!(listed().await, [build_claim_id(2)]);
    commit_writes(store, vec![StoreWrite::DropReceivedClaim(build_claim_id(2))]).await;
    assert_eq!(listed().await, []);
    commit_writes(store, vec![note(2)]).await;
    assert_eq!(listed().await, [build_claim_id(2)]);
}

async fn check_missing_claim(store: &dyn Store) {
    let note =
        |number| StoreWrite::NoteMissingClaim { claim: build_claim_id(number), at: today_at(500) };
    let listed = async || {
        let claims = store.missing_claims().await.expect("asked");
        claims.iter().map(|claim| claim.id).collect::<Vec<_>>()
    };
    commit_writes(store, vec![open_claim(1), open_claim(2)]).await;
    commit_writes(store, vec![credit_claim(1, Verified, 5), submit_claim(2)]).await;
    commit_writes(store, vec![note(1), note(1), note(2), note(3)]).await;
    assert_eq!(listed().await, [build_claim_id(1)], "the others are not credited");
    let evidence = store.read_evidence().await.expect("asked").missing;
    let told: Vec<_> = evidence.iter().map(|it| (it.transaction.as_str(), it.since)).collect();
    assert_eq!(told, [("0xff", today_at(500))]);
    commit_writes(
        store,
        vec![
            StoreWrite::NoteFoundClaim(build_claim_id(1)),
            StoreWrite::NoteFoundClaim(build_claim_id(2)),
        ],
    )
    .await;
    assert_eq!(listed().await, []);
    commit_writes(store, vec![note(1)]).await;
    assert_eq!(listed().await, [build_claim_id(1)]);
}

async fn check_deletion(store: &dyn Store) {
    for number in [1, 2, 3, 4] {
        commit_writes(store, vec![open_claim(number)]).await;
    }
    commit_writes(
        store,
        vec![fail_claim(1, Verified), fail_claim(2, Verified), credit_claim(3, Verified, 5)],
    )
    .await;
    let drop = |ms, rows_max| vec![StoreWrite::DropFailedClaims { before: today_at(ms), rows_max }];
    commit_writes(store, drop(100, 10)).await;
    assert!(store.claim(build_claim_id(1)).await.expect("asked").is_some());
    commit_writes(store, drop(101, 1)).await;
    let mut left = 0;
    for number in [1, 2, 3, 4] {
        left += usize::from(store.claim(build_claim_id(number)).await.expect("asked").is_some());
    }
    assert_eq!(left, 3);
    commit_writes(store, drop(101, 10)).await;
    for (number, is_there) in [(1, false), (2, false), (3, true), (4, true)] {
        assert_eq!(store.claim(build_claim_id(number)).await.expect("asked").is_some(), is_there);
    }
}
