//! Usage: pages, the history, the daily sums, and the effect of pruning.

use ledger_core::KeyId;
use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::Store;
use crate::conformance::CaseTable;
use crate::conformance::fixture::{
    DAY_MS, TODAY, add_funded_owner, build_lot, build_usage_row, commit_writes, entry_id, key_id,
    owner_id, today_at,
};
use crate::usage::{
    DayRange, DayRequests, PageRequest, REFUND_SKU, RequestOutcome, RequestSearch, UsageCursor,
    UsageDetails, UsageFilter, UsageOrder, UsagePage, UsageRow,
};
use crate::write::StoreWrite;

const HOUR_MS: i64 = 60 * 60 * 1000;

pub(crate) const CASES: CaseTable = &[
    ("a usage row is read back as it was written", |store| Box::pin(check_read_back(store))),
    ("pages together are all rows, in either order", |store| Box::pin(check_pages(store))),
    ("filters hold for rows and totals alike", |store| Box::pin(check_filters(store))),
    ("the history is read on from any place", |store| Box::pin(check_history(store))),
    ("many rows are found as few are", |store| Box::pin(check_many_rows(store))),
    ("requests are found by key, model, id, outcome and time", |store| {
        Box::pin(check_request_search(store))
    }),
    ("a search counts all requests, whatever page it shows", |store| {
        Box::pin(check_request_counts(store))
    }),
    ("daily sums tell models and keys apart", |store| Box::pin(check_daily_sums(store))),
    ("pruning drops details and keeps sums", |store| Box::pin(check_pruning(store))),
];

/// Three days with 40 rows each, every fourth of them in DIEM; one nano more in each row.
fn three_days() -> Vec<UsageRow> {
    let row = |number: i64| {
        let ms = (number / 40) * DAY_MS + (number % 40) * 60_000;
        let is_diem = number % 4 == 0;
        let currency = if is_diem { BalanceCurrency::Diem } else { BalanceCurrency::Usd };
        UsageRow { currency, ..build_usage_row(1, today_at(ms), number + 1) }
    };
    (0..120).map(row).collect()
}

async fn add_usage_rows(store: &dyn Store, rows: &[UsageRow]) {
    commit_writes(store, rows.iter().cloned().map(StoreWrite::AddUsage).collect()).await;
}

fn build_full_filter() -> UsageFilter {
    UsageFilter {
        owner: owner_id(1),
        currency: None,
        from: Timestamp::from_ms(0),
        until: Timestamp::MAX,
    }
}

async fn read_page(
    store: &dyn Store,
    filter: UsageFilter,
    order: UsageOrder,
    skip: u64,
    size: usize,
) -> UsagePage {
    store.usage_page(filter, PageRequest { order, skip, size }).await.expect("asked")
}

async fn check_read_back(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let with_key = build_usage_row(1, today_at(1), 636);
    let without_key = UsageRow {
        key: None,
        details: UsageDetails { request_id: "r".into(), ..Default::default() },
        ..build_usage_row(1, today_at(2), -5)
    };
    add_usage_rows(store, &[with_key.clone(), without_key.clone()]).await;
    let read = read_page(store, build_full_filter(), UsageOrder::OldestFirst, 0, 10).await;
    assert_eq!(read, UsagePage { rows: vec![with_key, without_key], total: 2 });
}

async fn check_pages(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let rows = three_days();
    add_usage_rows(store, &rows).await;
    add_usage_rows(store, &[build_usage_row(2, today_at(5), 1)]).await;
    for order in [UsageOrder::OldestFirst, UsageOrder::NewestFirst] {
        for size in [1, 7, 40, 500] {
            let mut read = Vec::new();
            for number in 0..=(120 / size) {
                let skip = (number * size).try_into().expect("small");
                let part = read_page(store, build_full_filter(), order, skip, size).await;
                assert_eq!(part.total, 120);
                read.extend(part.rows);
            }
            if order == UsageOrder::NewestFirst {
                read.reverse();
            }
            assert_eq!(read, rows, "pages of {size}");
        }
    }
}

async fn check_filters(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let rows = three_days();
    add_usage_rows(store, &rows).await;
    let moments = [
        today_at(0),
        today_at(5 * 60_000),
        today_at(5 * 60_000 + 1),
        today_at(DAY_MS),
        today_at(DAY_MS + 1),
        today_at(3 * DAY_MS - 1),
        today_at(9 * DAY_MS),
    ];
    for currency in [None, Some(BalanceCurrency::Diem), Some(BalanceCurrency::Vcu)] {
        for from in moments {
            for until in moments {
                let filter = UsageFilter { owner: owner_id(1), currency, from, until };
                let expected: Vec<UsageRow> = rows
                    .iter()
                    .filter(|row| from <= row.at && row.at < until)
                    .filter(|row| currency.is_none_or(|currency| currency == row.currency))
                    .cloned()
                    .collect();
                let read = read_page(store, filter, UsageOrder::OldestFirst, 0, 500).await;
                assert_eq!(read.total, u64::try_from(expected.len()).expect("small"), "{filter:?}");
                assert_eq!(read.rows, expected, "{filter:?}");
            }
        }
    }
}

async fn check_history(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let mut rows = three_days();
    // Several rows of one charge have the same time; the cursor still tells them apart.
    rows[7].at = rows[6].at;
    rows[8].at = rows[6].at;
    add_usage_rows(store, &rows).await;
    let mut read: Vec<UsageRow> = Vec::new();
    let mut after: Option<UsageCursor> = None;
    loop {
        let part = store.usage_after(build_full_filter(), after, 7).await.expect("asked");
        let Some((place, _)) = part.last() else { break };
        after = Some(*place);
        read.extend(part.into_iter().map(|(_, row)| row));
    }
    assert_eq!(read, rows);
    let late = build_usage_row(1, today_at(9 * DAY_MS), 1);
    add_usage_rows(store, std::slice::from_ref(&late)).await;
    let part = store.usage_after(build_full_filter(), after, 7).await.expect("asked");
    assert_eq!(part.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), [late]);
}

/// More rows than a store that indexes them in batches leaves unindexed.
async fn check_many_rows(store: &dyn Store) {
    const ROWS: i64 = 30_000;
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let mut number = 0;
    while number < ROWS {
        let next = number + 1_500;
        let rows: Vec<UsageRow> = (number..next)
            .map(|number| {
                build_usage_row(
                    u8::from(number % 3 == 0) + 1,
                    today_at(number * 10_000),
                    number + 1,
                )
            })
            .collect();
        add_usage_rows(store, &rows).await;
        number = next;
        let (found, two_thirds) = (
            read_page(store, build_full_filter(), UsageOrder::NewestFirst, 0, 10).await,
            next * 2 / 3,
        );
        assert_eq!(found.total, u64::try_from(two_thirds).expect("small"));
        assert_eq!(found.rows[0].amount, Nano::from_nanos(next));
    }
    let mut read = 0;
    let mut after: Option<UsageCursor> = None;
    loop {
        let part = store.usage_after(build_full_filter(), after, 997).await.expect("asked");
        let Some((place, _)) = part.last() else { break };
        after = Some(*place);
        read += part.len();
    }
    assert_eq!(read, 20_000);
    let middle = read_page(store, build_full_filter(), UsageOrder::OldestFirst, 10_000, 1).await;
    assert_eq!(middle.rows[0].amount, Nano::from_nanos(15_002));
}

/// Forty requests of two rows each, an hour apart: every fifth with another model, every seventh
/// without a key. The first of them is refunded at the end.
fn forty_requests() -> Vec<UsageRow> {
    let request = |number: i64| {
        let details =
            UsageDetails { request_id: format!("request-{number}"), ..Default::default() };
        let row = UsageRow {
            charge: entry_id(number.unsigned_abs().into()),
            key: Some(key_id(1)).filter(|_| number % 7 != 0),
            model: if number % 5 == 0 { "flux" } else { "llama" }.into(),
            details,
            ..build_usage_row(1, today_at(number * HOUR_MS), number + 1)
        };
        [UsageRow { sku: "llama-input-mtoken".into(), ..row.clone() }, row]
    };
    let mut rows: Vec<UsageRow> = (0..40).flat_map(request).collect();
    let refund = UsageRow { sku: REFUND_SKU.into(), at: today_at(40 * HOUR_MS), ..rows[0].clone() };
    rows.push(refund);
    rows
}

fn any_request() -> RequestSearch {
    RequestSearch {
        owner: owner_id(1),
        key: None,
        model: None,
        request_id: None,
        outcome: None,
        from: Timestamp::from_ms(0),
        until: Timestamp::MAX,
        skip: 0,
        size: 200,
    }
}

async fn check_request_search(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_funded_owner(store, 2).await;
    let rows = forty_requests();
    add_usage_rows(store, &rows).await;
    add_usage_rows(store, &[build_usage_row(2, today_at(5), 1)]).await;
    let of_key = RequestSearch { key: Some(key_id(1)), ..any_request() };
    let of_model = RequestSearch { model: Some("flux".into()), ..any_request() };
    let of_id = RequestSearch { request_id: Some("request-0".into()), ..any_request() };
    let given_back = RequestSearch { outcome: Some(RequestOutcome::Refunded), ..any_request() };
    let charged = RequestSearch { outcome: Some(RequestOutcome::Charged), ..of_id.clone() };
    let in_time = RequestSearch {
        from: today_at(3 * HOUR_MS),
        until: today_at(9 * HOUR_MS),
        ..any_request()
    };
    let unknown = RequestSearch { request_id: Some("request".into()), ..any_request() };
    for search in
        [any_request(), of_key, of_model.clone(), of_id, given_back, charged, in_time, unknown]
    {
        let is_wanted = |row: &&UsageRow| {
            let is_refund = row.sku == REFUND_SKU;
            let outcome =
                [RequestOutcome::Charged, RequestOutcome::Refunded][usize::from(is_refund)];
            search.key.is_none_or(|key| row.key == Some(key))
                && search.model.as_ref().is_none_or(|model| row.model == *model)
                && search.request_id.as_ref().is_none_or(|id| row.details.request_id == *id)
                && search.outcome.is_none_or(|wanted| wanted == outcome)
                && (search.from..search.until).contains(&row.at)
        };
        let wanted: Vec<UsageRow> = rows.iter().filter(is_wanted).cloned().collect();
        let found = store.search_requests(search.clone()).await.expect("asked");
        let total = usize::try_from(found.total()).expect("small");
        assert_eq!(total, found.requests.len(), "{search:?}");
        assert!(!found.is_cut);
        let read: Vec<UsageRow> = found.requests.into_iter().rev().flatten().collect();
        assert_eq!(read, wanted, "{search:?}");
    }
}

async fn check_request_counts(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_usage_rows(store, &forty_requests()).await;
    let page = |skip, size| RequestSearch { skip, size, ..any_request() };
    let all = store.search_requests(page(0, 200)).await.expect("asked");
    // The refund is on the second day.
    let days = [(TODAY, 24), (TODAY + 1, 17)].map(|(day, requests)| DayRequests { day, requests });
    assert_eq!((all.by_day.as_slice(), all.total()), (days.as_slice(), 41));
    for (skip, size) in [(0, 0), (0, 7), (38, 7), (41, 7)] {
        let found = store.search_requests(page(skip, size)).await.expect("asked");
        let first = usize::try_from(skip).expect("small");
        let expected = &all.requests[first..all.requests.len().min(first + size)];
        assert_eq!((found.requests.as_slice(), found.by_day), (expected, all.by_day.clone()));
    }
}

async fn check_daily_sums(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    add_usage_rows(store, &three_days()).await;
    let other =
        UsageRow { key: None, model: "flux".into(), ..build_usage_row(1, today_at(1), 1_000) };
    add_usage_rows(store, &[other]).await;
    let days = DayRange { first: TODAY, last: TODAY + 1 };
    let by_key = store.usage_by_key(owner_id(1), days).await.expect("asked");
    let amount = |key: Option<KeyId>, day, currency| {
        let rows =
            by_key.iter().filter(|row| (row.key, row.day, row.currency) == (key, day, currency));
        rows.map(|row| row.amount.nanos()).sum::<i64>()
    };
    // Of the numbers 1 to 40, every fourth from 1 on adds up to 190, the others to 630.
    assert_eq!(amount(Some(key_id(1)), TODAY, BalanceCurrency::Diem), 190);
    assert_eq!(amount(Some(key_id(1)), TODAY, BalanceCurrency::Usd), 630);
    assert_eq!(amount(None, TODAY, BalanceCurrency::Usd), 1_000);
    assert_eq!(amount(Some(key_id(1)), TODAY + 1, BalanceCurrency::Diem), 190 + 10 * 40);
    assert_eq!(amount(Some(key_id(1)), TODAY + 2, BalanceCurrency::Diem), 0);
    assert_eq!(by_key[0].description.as_deref().unwrap_or("key 1"), "key 1");
    let by_model = store.usage_by_model(owner_id(1), days).await.expect("asked");
    let flux = by_model.iter().find(|row| row.model == "flux").expect("flux was used");
    assert_eq!((flux.amount, flux.units), (Nano::from_nanos(1_000), 227));
    let llama = by_model.iter().filter(|row| row.model == "llama" && row.day == TODAY);
    assert_eq!(llama.map(|row| row.units).sum::<u64>(), 40 * 227);
}

async fn check_pruning(store: &dyn Store) {
    add_funded_owner(store, 1).await;
    let rows = three_days();
    add_usage_rows(store, &rows).await;
    let days = DayRange { first: TODAY, last: TODAY + 2 };
    let sums_before = store.usage_by_model(owner_id(1), days).await.expect("asked");
    // The bound is below the number of rows to prune: none of them may be visible in between.
    commit_writes(store, vec![StoreWrite::PruneUsage { before_day: TODAY + 1, rows_max: 25 }])
        .await;
    for _ in 0..2 {
        let read = read_page(store, build_full_filter(), UsageOrder::OldestFirst, 0, 500).await;
        assert_eq!(read.total, 80);
        assert_eq!(read.rows, rows[40..]);
        commit_writes(store, vec![StoreWrite::PruneUsage { before_day: TODAY + 1, rows_max: 500 }])
            .await;
    }
    let sums_after = store.usage_by_model(owner_id(1), days).await.expect("asked");
    assert_eq!(sums_before, sums_after);
    let snapshot = store.load_books().await.expect("asked").snapshot;
    assert_eq!(snapshot.lots.iter().map(|row| row.lot).collect::<Vec<_>>(), [build_lot(1)]);
}
