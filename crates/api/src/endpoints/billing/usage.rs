//! `GET /billing/usage`: charges, by page.

use store::usage::{PageRequest, UsageFilter, UsageOrder};
use wire::billing::{Pagination, SortOrder, UsagePage, UsageQuery};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::billing::csv::csv;
use crate::endpoints::billing::row::row;
use crate::endpoints::billing::{currency, range};
use crate::input::Query;
use crate::refusal::Refusal;
use crate::reply::{Csv, Table, WithHeaders};

const ROWS_DEFAULT: u32 = 200;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/billing/usage", list_usage)
        .tag("Billing")
        .summary("List usage, page by page")
        .experimental()
        .build()
}

async fn list_usage(
    app: Shared,
    call: Call<Admin, Query<UsageQuery>>,
) -> Result<Table<UsagePage>, Refusal> {
    let Admin(holder) = &call.caller;
    let Query(query) = &call.input;
    let start = ("startDate", query.start_date.as_deref());
    let range = range(start, ("endDate", query.end_date.as_deref()))?;
    let filter = UsageFilter {
        owner: holder.owner.id,
        currency: query.currency.map(currency),
        from: range.from,
        until: range.until,
    };
    let limit = query.limit.unwrap_or(ROWS_DEFAULT);
    let page = query.page.unwrap_or(1);
    let request = PageRequest {
        order: match query.sort_order {
            Some(SortOrder::Asc) => UsageOrder::OldestFirst,
            Some(SortOrder::Desc) | None => UsageOrder::NewestFirst,
        },
        skip: u64::from(page - 1) * u64::from(limit),
        size: usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let found = app.store.usage_page(filter, request).await.map_err(Refusal::unavailable)?;
    let rows: Vec<_> = found.rows.iter().map(row).collect();
    let pagination = Pagination {
        limit: u64::from(limit),
        page: u64::from(page),
        total: found.total,
        total_pages: found.total.div_ceil(u64::from(limit)),
    };
    if call.accepts_csv {
        let file = Csv { file_name: "billing_usage.csv".to_owned(), text: csv(&rows) };
        return Ok(Table::Csv(paged(WithHeaders::new(file), &pagination)));
    }
    let body = UsagePage { warning_message: None, data: rows, pagination: pagination.clone() };
    Ok(Table::Json(paged(WithHeaders::new(body), &pagination)))
}

fn paged<T>(answer: WithHeaders<T>, pagination: &Pagination) -> WithHeaders<T> {
    answer
        .header("x-pagination-limit", pagination.limit)
        .header("x-pagination-page", pagination.page)
        .header("x-pagination-total", pagination.total)
        .header("x-pagination-total-pages", pagination.total_pages)
}
