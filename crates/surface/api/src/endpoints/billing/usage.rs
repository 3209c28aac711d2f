//! `GET /billing/usage`: charges, by page.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::{CsvFile, TableReply, WithHeaders};
use store::usage::{PageRequest, UsageFilter, UsageOrder};
use wire::billing::{Pagination, SortOrder, UsagePage, UsageQuery};

use crate::endpoints::billing::csv::write_csv;
use crate::endpoints::billing::row::to_wire_row;
use crate::endpoints::billing::{RangeEnd, from_wire_currency, parse_range};

const ROWS_DEFAULT: u32 = 200;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/billing/usage", list_usage)
        .tag("Billing")
        .summary("List usage, page by page")
        .experimental()
        .build()
}

async fn list_usage(
    app: SharedApp,
    call: ApiCall<AdminCaller, QueryParameters<UsageQuery>>,
) -> Result<TableReply<UsagePage>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let QueryParameters(query) = &call.input;
    let start = RangeEnd { field: "startDate", text: query.start_date.as_deref() };
    let end = RangeEnd { field: "endDate", text: query.end_date.as_deref() };
    let range = parse_range(start, end)?;
    let filter = UsageFilter {
        owner: holder.owner.id,
        currency: query.currency.map(from_wire_currency),
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
    let rows: Vec<_> = found.rows.iter().map(to_wire_row).collect();
    let pagination = Pagination {
        limit: u64::from(limit),
        page: u64::from(page),
        total: found.total,
        total_pages: found.total.div_ceil(u64::from(limit)),
    };
    if call.accepts_csv {
        let file = CsvFile { file_name: "billing_usage.csv".to_owned(), text: write_csv(&rows) };
        return Ok(TableReply::Csv(add_pagination_headers(WithHeaders::new(file), &pagination)));
    }
    let body = UsagePage { warning_message: None, data: rows, pagination: pagination.clone() };
    Ok(TableReply::Json(add_pagination_headers(WithHeaders::new(body), &pagination)))
}

fn add_pagination_headers<T>(answer: WithHeaders<T>, pagination: &Pagination) -> WithHeaders<T> {
    answer
        .header("x-pagination-limit", pagination.limit)
        .header("x-pagination-page", pagination.page)
        .header("x-pagination-total", pagination.total)
        .header("x-pagination-total-pages", pagination.total_pages)
}
