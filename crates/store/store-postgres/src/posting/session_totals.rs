//! Statements for the sums of usage by session and day.

use store::error::StoreError;
use store::session_sums::{SessionChange, SessionDayKey};
use store::sums::to_database_sum;

use crate::statements::{SqlStatements, values};

const ADD_SESSIONS: &str = "INSERT INTO usage_session AS known (day, owner, session, requests, \
    units, usd, diem, input_tokens, cached_tokens, output_tokens, first_ms, last_ms) \
    SELECT day, owner, session, requests, units, usd, diem, input_tokens, cached_tokens, \
    output_tokens, first_ms, last_ms \
    FROM unnest($1::int8[], $2::uuid[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], \
    $7::int8[], $8::int8[], $9::int8[], $10::int8[], $11::int8[], $12::int8[]) \
    AS added (day, owner, session, requests, units, usd, diem, input_tokens, cached_tokens, \
    output_tokens, first_ms, last_ms) \
    ON CONFLICT (day, owner, session) DO UPDATE SET \
    requests = known.requests + excluded.requests, units = known.units + excluded.units, \
    usd = known.usd + excluded.usd, diem = known.diem + excluded.diem, \
    input_tokens = known.input_tokens + excluded.input_tokens, \
    cached_tokens = known.cached_tokens + excluded.cached_tokens, \
    output_tokens = known.output_tokens + excluded.output_tokens, \
    first_ms = least(known.first_ms, excluded.first_ms), \
    last_ms = greatest(known.last_ms, excluded.last_ms)";

pub(crate) fn write_sessions(
    statements: &mut SqlStatements<'_>,
    changes: &[(SessionDayKey, SessionChange)],
) -> Result<(), StoreError> {
    if changes.is_empty() {
        return Ok(());
    }
    let sums = |of: fn(&SessionChange) -> i128| -> Result<Vec<i64>, StoreError> {
        changes.iter().map(|(_, change)| to_database_sum(of(change))).collect()
    };
    let values = values![
        changes.iter().map(|(key, _)| key.day).collect::<Vec<_>>(),
        changes.iter().map(|(key, _)| key.owner.0).collect::<Vec<_>>(),
        changes.iter().map(|(key, _)| key.session).collect::<Vec<_>>(),
        changes.iter().map(|(_, change)| change.requests).collect::<Vec<_>>(),
        sums(|change| change.units)?,
        sums(|change| change.usd)?,
        sums(|change| change.diem)?,
        sums(|change| change.input_tokens)?,
        sums(|change| change.cached_tokens)?,
        sums(|change| change.output_tokens)?,
        changes.iter().map(|(_, change)| change.first_ms).collect::<Vec<_>>(),
        changes.iter().map(|(_, change)| change.last_ms).collect::<Vec<_>>(),
    ];
    statements.add(ADD_SESSIONS, values);
    Ok(())
}
