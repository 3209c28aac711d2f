//! `GET /billing/usage-history`: all charges, oldest first, with a cursor.

mod cursor;

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::{CsvFile, TableReply, WithHeaders};
use store::usage::UsageFilter;
use wire::billing::{UsageHistory, UsageHistoryQuery};

use crate::endpoints::billing::csv::write_csv;
use crate::endpoints::billing::history::cursor::HistoryCursor;
use crate::endpoints::billing::row::to_wire_row;
use crate::endpoints::billing::{RangeEnd, from_wire_currency, parse_range};
use schema_check::ValidationFaults;

const ROWS_DEFAULT: u32 = 1000;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/billing/usage-history", list_usage_history)
        .tag("Billing")
        .summary("Export usage, oldest first")
        .experimental()
        .build()
}

async fn list_usage_history(
    app: SharedApp,
    call: ApiCall<AdminCaller, QueryParameters<UsageHistoryQuery>>,
) -> Result<TableReply<UsageHistory>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let QueryParameters(query) = &call.input;
    let start = starting_point(query)?;
    let filter = UsageFilter {
        owner: holder.owner.id,
        currency: start.currency,
        from: start.from,
        until: start.until,
    };
    let size = usize::try_from(start.page_size).unwrap_or(usize::MAX);
    let found = app.store.usage_after(filter, start.after, size).await;
    let found = found.map_err(Refusal::unavailable)?;
    let is_full = found.len() == size;
    let last = found.last().map(|(place, _)| *place).filter(|_| is_full);
    let next_cursor = last.map(|place| HistoryCursor { after: Some(place), ..start }.write());
    let rows: Vec<_> = found.iter().map(|(_, usage)| to_wire_row(usage)).collect();
    if !call.accepts_csv {
        return Ok(TableReply::Json(WithHeaders::new(UsageHistory { data: rows, next_cursor })));
    }
    let digits: String = call.now.to_string().chars().filter(|it| !"-:.".contains(*it)).collect();
    let file_name = format!("billing-usage-history-{digits}.csv");
    let answer = WithHeaders::new(CsvFile { file_name, text: write_csv(&rows) });
    Ok(TableReply::Csv(match next_cursor {
        Some(cursor) => answer.header("x-next-cursor", cursor),
        None => answer,
    }))
}

/// The start of the page. A cursor contains all parameters of the first request.
fn starting_point(query: &UsageHistoryQuery) -> Result<HistoryCursor, Refusal> {
    let Some(text) = &query.cursor else {
        let start = RangeEnd { field: "startTimestamp", text: query.start_timestamp.as_deref() };
        let end = RangeEnd { field: "endTimestamp", text: query.end_timestamp.as_deref() };
        let range = parse_range(start, end)?;
        return Ok(HistoryCursor {
            currency: query.currency.map(from_wire_currency),
            from: range.from,
            until: range.until,
            page_size: query.page_size.unwrap_or(ROWS_DEFAULT),
            after: None,
        });
    };
    let is_alone = query.currency.is_none()
        && query.start_timestamp.is_none()
        && query.end_timestamp.is_none()
        && query.page_size.is_none();
    let mut faults = ValidationFaults::default();
    if !is_alone {
        faults.at(["cursor"]).push("Must stand alone: it carries the other parameters");
    }
    let cursor = HistoryCursor::read(text);
    if cursor.is_none() {
        faults.at(["cursor"]).push("Must be the nextCursor of an earlier answer");
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    cursor.ok_or_else(|| Refusal::internal("a cursor that could not be read had no fault"))
}
