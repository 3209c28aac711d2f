//! The sums of usage by session and day: written, read, pruned, and compared with the rows.

use rusqlite::{Connection, params};

use crate::evidence::{FAULTS_MAX, SessionMiscount};
use crate::session_sums::{SessionChange, SessionDayKey};
use crate::sqlite::sums::to_stored_sum;
use crate::sqlite::write_error::WriteError;
use crate::usage::REFUND_SKU;

pub(super) fn write_sessions(
    connection: &Connection,
    changes: &[(SessionDayKey, SessionChange)],
) -> Result<(), WriteError> {
    let sql = "INSERT INTO usage_session (day, owner, session, requests, units, usd, diem, \
               input_tokens, cached_tokens, output_tokens, first_ms, last_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
               ON CONFLICT (day, owner, session) DO UPDATE SET \
               requests = requests + excluded.requests, units = units + excluded.units, \
               usd = usd + excluded.usd, diem = diem + excluded.diem, \
               input_tokens = input_tokens + excluded.input_tokens, \
               cached_tokens = cached_tokens + excluded.cached_tokens, \
               output_tokens = output_tokens + excluded.output_tokens, \
               first_ms = coalesce(min(first_ms, excluded.first_ms), first_ms, excluded.first_ms), \
               last_ms = coalesce(max(last_ms, excluded.last_ms), last_ms, excluded.last_ms)";
    let mut statement = connection.prepare_cached(sql)?;
    for (key, change) in changes {
        statement.execute(params![
            key.day,
            key.owner.0.as_bytes(),
            key.session,
            change.requests,
            to_stored_sum(change.units)?,
            to_stored_sum(change.usd)?,
            to_stored_sum(change.diem)?,
            to_stored_sum(change.input_tokens)?,
            to_stored_sum(change.cached_tokens)?,
            to_stored_sum(change.output_tokens)?,
            change.first_ms,
            change.last_ms,
        ])?;
    }
    Ok(())
}

/// Descriptions of sums that differ from the rows.
pub(super) fn find_session_miscounts(
    connection: &Connection,
    from_day: i64,
) -> rusqlite::Result<Vec<String>> {
    let sql = "WITH charged AS (SELECT at_ms / 86400000 AS day, owner, session, charge, \
                   sku = ?3 AS is_refund, sum(units) AS units, \
                   sum(iif(currency = 'DIEM', 0, amount)) AS usd, \
                   sum(iif(currency = 'DIEM', amount, 0)) AS diem, \
                   max(coalesce(prompt_tokens, 0)) AS input_tokens, \
                   max(coalesce(cached_tokens, 0)) AS cached_tokens, \
                   max(coalesce(completion_tokens, 0)) AS output_tokens \
                   FROM usage WHERE session IS NOT NULL AND ?1 * 86400000 <= at_ms \
                   GROUP BY 1, 2, 3, 4, 5), \
               counted AS (SELECT day, owner, session, sum(NOT is_refund) AS requests, \
                   sum(iif(is_refund, 0, units)) AS units, sum(usd) AS usd, sum(diem) AS diem, \
                   sum(iif(is_refund, 0, input_tokens)) AS input_tokens, \
                   sum(iif(is_refund, 0, cached_tokens)) AS cached_tokens, \
                   sum(iif(is_refund, 0, output_tokens)) AS output_tokens \
                   FROM charged GROUP BY 1, 2, 3), \
               summed AS (SELECT day, owner, session, requests, units, usd, diem, input_tokens, \
                   cached_tokens, output_tokens FROM usage_session WHERE ?1 <= day), \
               differing AS (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM summed) \
                   UNION SELECT * FROM (SELECT * FROM summed EXCEPT SELECT * FROM counted)) \
               SELECT DISTINCT lower(hex(owner)), session, date(day * 86400, 'unixepoch') \
               FROM differing LIMIT ?2";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map(params![from_day, FAULTS_MAX, REFUND_SKU], |row| {
        let (owner, date) = (row.get(0)?, row.get(2)?);
        let session = row.get::<_, i64>(1)?.cast_unsigned();
        Ok(SessionMiscount { owner, session, date }.to_string())
    })?;
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::fixture::{TODAY, build_usage_row, today_at};
    use crate::session_sums::SessionSums;
    use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
    use crate::sqlite::schema;
    use crate::write::{StoreWrite, WriteGroup};

    fn new_database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::apply_migrations(&mut connection).unwrap();
        connection
    }

    #[test]
    fn a_changed_session_is_found() {
        let connection = new_database();
        let mut row = build_usage_row(1, today_at(5), 250);
        (row.details.session, row.details.cached_tokens) = (Some(7), Some(3));
        let group = WriteGroup { writes: vec![StoreWrite::AddUsage(row.clone())] };
        let mut caches = SqliteCaches::default();
        let mut posting = SqlitePosting::new(&connection, &mut caches).unwrap();
        posting.add(&group).unwrap();
        posting.finish().unwrap();
        assert_eq!(find_session_miscounts(&connection, TODAY).unwrap(), [""; 0]);
        for change in ["cached_tokens = 4", "session = NULL", "session = 8"] {
            connection.execute_batch(&format!("SAVEPOINT a; UPDATE usage SET {change}")).unwrap();
            let found = find_session_miscounts(&connection, TODAY).unwrap();
            assert!(!found.is_empty(), "{change}");
            assert!(found.iter().all(|it| it.contains("2026-11-15 in session 0000")), "{found:?}");
            connection.execute_batch("ROLLBACK TO a; RELEASE a").unwrap();
        }
        let mut sums = SessionSums::default();
        sums.add_row(&row);
        write_sessions(&connection, &sums.into_sorted()).unwrap();
        assert_eq!(find_session_miscounts(&connection, TODAY).unwrap().len(), 1);
        let requests = "SELECT requests FROM usage_session";
        let requests: u64 = connection.query_row(requests, [], |row| row.get(0)).unwrap();
        assert_eq!(requests, 2);
    }
}
