//! The sums of usage by session and day.

use ledger_core::OwnerId;

use crate::error::StoreError;
use crate::sql::text::shared_sql;
use crate::sql::usage::pruned_before_day;
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlPosting, SqlText};
use crate::usage::{DayRange, SESSION_SUMS_MAX, SESSIONS_MAX, SessionUsage};

/// The days of the range, newest first.
const DAYS: SqlText = SqlText {
    sqlite: "WITH RECURSIVE days (day) AS (SELECT $3 WHERE $2 <= $3 UNION ALL \
             SELECT day - 1 FROM days WHERE $2 < day) ",
    postgres: "",
};

/// Each day is one search in the index, up to a bound. On Postgres the inner limit keeps the
/// planner from reading all owners' sums instead.
const NEWEST: SqlText = SqlText {
    sqlite: "SELECT usage_session.* FROM days CROSS JOIN usage_session \
             ON usage_session.day = days.day AND usage_session.owner = $1 LIMIT $4",
    postgres: "SELECT daily.* FROM generate_series($3::bigint, $2::bigint, -1) AS days (day) \
               CROSS JOIN LATERAL (SELECT * FROM usage_session \
               WHERE usage_session.day = days.day AND owner = $1 LIMIT $4) AS daily LIMIT $4",
};

const SUM: SqlText = shared_sql!(
    DAYS,
    "SELECT session, sum(requests)::bigint, sum(units)::bigint, sum(usd)::bigint, \
     sum(diem)::bigint, sum(input_tokens)::bigint, sum(cached_tokens)::bigint, \
     sum(output_tokens)::bigint, min(first_ms), max(last_ms) FROM (",
    NEWEST,
    ") AS newest GROUP BY session ORDER BY sum(usd) + sum(diem) DESC, session LIMIT $5"
);

const PRUNE: SqlText = shared_sql!(
    "DELETE FROM usage_session WHERE (day, owner, session) IN \
     (SELECT day, owner, session FROM usage_session WHERE day < $1 \
     ORDER BY day, owner, session LIMIT $2 FOR UPDATE SKIP LOCKED)"
);

/// Deletes the oldest sums.
pub(crate) fn prune_sessions<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    before_day: i64,
    rows_max: usize,
) -> Result<(), P::Error> {
    posting.run(PRUNE, sql_values![before_day, rows_max])
}

/// The most expensive sessions.
pub(crate) async fn by_session(
    db: &dyn SqlConnection,
    owner: OwnerId,
    days: DayRange,
) -> Result<Vec<SessionUsage>, StoreError> {
    let days = days.for_sessions(pruned_before_day(db).await?);
    let values = sql_values![owner, days.first, days.last, SESSION_SUMS_MAX, SESSIONS_MAX];
    let sessions = db.rows(SUM, &values, |row| {
        Ok(SessionUsage {
            session: row.get::<i64>(0)?.cast_unsigned(),
            requests: row.get(1)?,
            units: row.get(2)?,
            usd: row.get(3)?,
            diem: row.get(4)?,
            input_tokens: row.get(5)?,
            cached_tokens: row.get(6)?,
            output_tokens: row.get(7)?,
            first: row.get(8)?,
            last: row.get(9)?,
        })
    });
    sessions.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema::explain_query;

    #[test]
    fn sessions_are_searched_by_day_and_owner() {
        let steps = explain_query(SUM.sqlite);
        let search = "SEARCH usage_session USING PRIMARY KEY (day=? AND owner=?)";
        assert!(steps.iter().any(|step| step == search), "{steps:?}");
    }
}
