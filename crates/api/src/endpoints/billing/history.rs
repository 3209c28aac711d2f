//! `GET /billing/usage-history`: all charges, oldest first, with a cursor.

mod cursor;

use store::usage::UsageFilter;
use wire::billing::{UsageHistory, UsageHistoryQuery};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::billing::csv::csv;
use crate::endpoints::billing::history::cursor::Cursor;
use crate::endpoints::billing::row::row;
use crate::endpoints::billing::{currency, range};
use crate::input::Query;
use crate::refusal::Refusal;
use crate::reply::{Csv, Table, WithHeaders};
use schema_check::Faults;

const ROWS_DEFAULT: u32 = 1000;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/billing/usage-history", list_usage_history)
        .tag("Billing")
        .summary("Export usage, oldest first")
        .experimental()
        .build()
}

async fn list_usage_history(
    app: Shared,
    call: Call<Admin, Query<UsageHistoryQuery>>,
) -> Result<Table<UsageHistory>, Refusal> {
    let Admin(holder) = &call.caller;
    let Query(query) = &call.input;
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
    let next_cursor = last.map(|place| Cursor { after: Some(place), ..start }.write());
    let rows: Vec<_> = found.iter().map(|(_, usage)| row(usage)).collect();
    if !call.accepts_csv {
        return Ok(Table::Json(WithHeaders::new(UsageHistory { data: rows, next_cursor })));
    }
    let digits: String = call.now.to_string().chars().filter(|it| !"-:.".contains(*it)).collect();
    let file_name = format!("billing-usage-history-{digits}.csv");
    let answer = WithHeaders::new(Csv { file_name, text: csv(&rows) });
    Ok(Table::Csv(match next_cursor {
        Some(cursor) => answer.header("x-next-cursor", cursor),
        None => answer,
    }))
}

/// The start of the page. A cursor contains all parameters of the first request.
fn starting_point(query: &UsageHistoryQuery) -> Result<Cursor, Refusal> {
    let Some(text) = &query.cursor else {
        let start = ("startTimestamp", query.start_timestamp.as_deref());
        let range = range(start, ("endTimestamp", query.end_timestamp.as_deref()))?;
        return Ok(Cursor {
            currency: query.currency.map(currency),
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
    let mut faults = Faults::default();
    if !is_alone {
        faults.at(["cursor"]).push("Must stand alone: it carries the other parameters");
    }
    let cursor = Cursor::read(text);
    if cursor.is_none() {
        faults.at(["cursor"]).push("Must be the nextCursor of an earlier answer");
    }
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
    cursor.ok_or_else(|| Refusal::internal("a cursor that could not be read had no fault"))
}
