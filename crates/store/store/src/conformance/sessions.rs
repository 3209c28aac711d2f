//! The sums of usage by session: their contents, their order, their bounds, and pruning.

use money::{BalanceCurrency, Nano};

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    DAY_MS, TODAY, add_funded_owner, build_usage_row, commit_writes, entry_id, owner_id, today_at,
};
use crate::usage::{DayRange, REFUND_SKU, SESSIONS_MAX, SessionUsage, UsageDetails, UsageRow};
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("usage is summed by session", |store| Box::pin(check_sums(store))),
    ("the most expensive sessions are listed", |store| Box::pin(check_most_expensive(store))),
    ("sums of sessions are pruned with their rows", |store| Box::pin(check_pruning(store))),
];

const DAYS: DayRange = DayRange { first: TODAY, last: TODAY + 2 };

/// One line of a charge of owner 1: 12 prompt tokens, 227 completion tokens and as many units.
fn build_line(charge: u128, session: u64, ms: i64, nanos: i64) -> UsageRow {
    let row = build_usage_row(1, today_at(ms), nanos);
    let details = UsageDetails { session: Some(session), cached_tokens: Some(5), ..row.details };
    UsageRow { charge: entry_id(charge), details, ..row }
}

fn build_refund(charge: u128, session: u64, ms: i64, nanos: i64) -> UsageRow {
    let row = build_line(charge, session, ms, -nanos);
    let details = UsageDetails { session: Some(session), ..UsageDetails::default() };
    UsageRow { sku: REFUND_SKU.into(), units: 0, details, ..row }
}

async fn add_rows(store: &dyn Store, rows: Vec<UsageRow>) {
    commit_writes(store, rows.into_iter().map(StoreWrite::AddUsage).collect()).await;
}

async fn list_sessions(store: &dyn Store, days: DayRange) -> Vec<SessionUsage> {
    store.usage_by_session(owner_id(1), days).await.expect("asked")
}

async fn check_sums(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let in_diem = UsageRow { currency: BalanceCurrency::Diem, ..build_line(1, 7, 1_000, 30) };
    add_rows(store, vec![build_line(1, 7, 1_000, 400), in_diem]).await;
    // The digest is a number of 64 bits, which the databases keep as a signed one.
    add_rows(store, vec![build_line(2, u64::MAX, 2_000, 5), build_usage_row(1, today_at(3), 9)])
        .await;
    add_rows(store, vec![UsageRow { owner: owner_id(2), ..build_line(3, 7, 1, 1) }]).await;
    add_rows(store, vec![build_line(4, 7, DAY_MS, 100), build_line(5, 7, DAY_MS + 5, 1)]).await;
    add_rows(store, vec![build_refund(4, 7, 2 * DAY_MS, 60)]).await;
    let nano = Nano::from_nanos;
    let seven = SessionUsage {
        session: 7,
        requests: 3,
        units: 4 * 227,
        usd: nano(441),
        diem: nano(30),
        input_tokens: 3 * 12,
        cached_tokens: 3 * 5,
        output_tokens: 3 * 227,
        first: Some(today_at(1_000)),
        last: Some(today_at(DAY_MS + 5)),
    };
    let other = SessionUsage {
        session: u64::MAX,
        requests: 1,
        units: 227,
        usd: nano(5),
        diem: nano(0),
        input_tokens: 12,
        cached_tokens: 5,
        output_tokens: 227,
        first: Some(today_at(2_000)),
        last: Some(today_at(2_000)),
    };
    assert_eq!(list_sessions(store, DAYS).await, [seven, other]);
    let refunded = list_sessions(store, DayRange { first: TODAY + 2, last: TODAY + 2 }).await;
    let only_refund = (refunded[0].usd, refunded[0].requests, refunded[0].first);
    assert_eq!((refunded.len(), only_refund), (1, (nano(-60), 0, None)));
    let long = DayRange { first: i64::MIN, last: i64::MAX };
    assert_eq!(list_sessions(store, long).await, [], "the newest days of a range are read");
    let evidence = store.read_evidence().await.expect("asked");
    assert_eq!(evidence.miscounts, Vec::<String>::new());
    let marks = store.usage_marks(0, 100).await.expect("asked");
    let is_intact = |digest| digest == crate::usage_digest::DigestCheck::Matching;
    assert!(marks.iter().all(|mark| is_intact(mark.digest)), "{marks:?}");
}

async fn check_most_expensive(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let sessions = 1..=u64::try_from(SESSIONS_MAX).expect("small") + 20;
    let cost = |session: u64| i64::try_from(session * 10).expect("small");
    let rows = sessions.clone().map(|it| build_line(it.into(), it, 1, cost(it)));
    add_rows(store, rows.collect()).await;
    let listed = list_sessions(store, DAYS).await;
    let expected: Vec<u64> = sessions.rev().take(SESSIONS_MAX).collect();
    assert_eq!(listed.iter().map(|it| it.session).collect::<Vec<_>>(), expected);
}

async fn check_pruning(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let day = |number: i64| {
        let session = number.unsigned_abs() + 1;
        build_line(session.into(), session, number * DAY_MS, 1)
    };
    add_rows(store, vec![day(0), day(0), day(1)]).await;
    // Nothing of the pruned days is listed, even if not all of it is deleted yet.
    for rows_max in [0, 100] {
        let prune = StoreWrite::PruneUsage { before_day: TODAY + 1, rows_max };
        commit_writes(store, vec![prune]).await;
        let listed = list_sessions(store, DAYS).await;
        assert_eq!(listed.iter().map(|it| it.session).collect::<Vec<_>>(), [2]);
    }
    assert_eq!(store.read_evidence().await.expect("asked").miscounts, Vec::<String>::new());
}
