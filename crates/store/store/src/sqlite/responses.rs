//! Reads and writes the rows of stored responses.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::conversation::ConversationId;
use crate::error::StoreError;
use crate::model_response::{
    RESPONSES_MAX, ResponseCost, ResponseEnd, ResponseFilter, ResponseId, ResponseRecord,
    ResponseState, ResponseWrite, SealedEvents, SealedResponse, StoredTotals,
};
use crate::sqlite::columns::{
    read_id, read_nano, read_optional_id, read_optional_time, read_parsed, read_time,
};
use crate::sqlite::conversations;
use crate::sqlite::write_error::WriteError;
use crate::write::DialogueWrite;

const COLUMNS: &str = "id, owner, state, model, previous, depth, conversation, is_background, \
     is_streamed, bytes, key, usd_nano, diem_nano, fence, lease_until_ms, wants_cancel, events, \
     created_ms, started_ms, ended_ms, expires_ms";

const DESTROY: &str = "SET key = NULL, input = x'', output = NULL, wants_cancel = ended_ms IS NULL";

pub(crate) fn post_dialogue(
    connection: &Connection,
    write: &DialogueWrite,
) -> Result<(), WriteError> {
    match write {
        DialogueWrite::Response(write) => post_response(connection, write),
        DialogueWrite::Conversation(write) => conversations::post_conversation(connection, write),
    }
}

fn post_response(connection: &Connection, write: &ResponseWrite) -> Result<(), WriteError> {
    match write {
        ResponseWrite::Add(response) => add_response(connection, response)?,
        ResponseWrite::Claim { id, fence, lease_until, at } => {
            let sql = "UPDATE model_response SET fence = fence + 1, lease_until_ms = ?3, \
                       state = 'IN_PROGRESS', started_ms = coalesce(started_ms, ?4) \
                       WHERE id = ?1 AND fence = ?2 AND ended_ms IS NULL AND lease_until_ms <= ?4";
            let values = params![id.0.as_bytes(), fence, lease_until.ms(), at.ms()];
            expect_row(connection.prepare_cached(sql)?.execute(values)?)?;
        }
        ResponseWrite::Beat { id, fence, lease_until } => {
            let sql = "UPDATE model_response SET lease_until_ms = ?3 \
                       WHERE id = ?1 AND fence = ?2 AND ended_ms IS NULL";
            let values = params![id.0.as_bytes(), fence, lease_until.ms()];
            expect_row(connection.prepare_cached(sql)?.execute(values)?)?;
        }
        ResponseWrite::AddEvents { id, fence, events } => {
            add_events(connection, *id, *fence, events)?;
        }
        ResponseWrite::End(end) => end_response(connection, end)?,
        ResponseWrite::WantCancel(id) => {
            let sql = "UPDATE model_response SET wants_cancel = 1 \
                       WHERE id = ?1 AND ended_ms IS NULL";
            connection.prepare_cached(sql)?.execute([id.0.as_bytes()])?;
        }
        ResponseWrite::BreakLeases => {
            let sql = "UPDATE model_response SET lease_until_ms = 0 WHERE ended_ms IS NULL";
            connection.prepare_cached(sql)?.execute([])?;
        }
        ResponseWrite::Delete { owner, id } => {
            let sql = format!("UPDATE model_response {DESTROY} WHERE id = ?1 AND owner = ?2");
            let values = params![id.0.as_bytes(), owner.0.as_bytes()];
            if connection.prepare_cached(&sql)?.execute(values)? == 1 {
                let sql = "DELETE FROM response_event WHERE response = ?1";
                connection.prepare_cached(sql)?.execute([id.0.as_bytes()])?;
            }
        }
        ResponseWrite::DropExpired { now, rows_max } => drop_expired(connection, *now, *rows_max)?,
    }
    Ok(())
}

fn add_response(connection: &Connection, response: &SealedResponse) -> rusqlite::Result<()> {
    let SealedResponse { record, input, output } = response;
    let sql = format!(
        "INSERT INTO model_response ({COLUMNS}, input, output) VALUES \
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
          ?20, ?21, ?22, ?23)"
    );
    connection.prepare_cached(&sql)?.execute(params![
        record.id.0.as_bytes(),
        record.owner.0.as_bytes(),
        record.state.name(),
        record.model,
        record.previous.as_ref().map(|id| id.0.as_bytes()),
        record.depth,
        record.conversation.as_ref().map(|id| id.0.as_bytes()),
        record.is_background,
        record.is_streamed,
        record.bytes,
        record.key,
        record.cost.usd.nanos(),
        record.cost.diem.nanos(),
        record.fence,
        record.lease_until.ms(),
        record.wants_cancel,
        record.events,
        record.created.ms(),
        record.started.map(|at| at.ms()),
        record.ended.map(|at| at.ms()),
        record.expires.ms(),
        input,
        output,
    ])?;
    Ok(())
}

fn add_events(
    connection: &Connection,
    id: ResponseId,
    fence: u64,
    events: &SealedEvents,
) -> Result<(), WriteError> {
    let next = events.last + 1;
    let sql = "UPDATE model_response SET events = ?4 \
               WHERE id = ?1 AND fence = ?2 AND events = ?3 AND ended_ms IS NULL";
    let values = params![id.0.as_bytes(), fence, events.first, next];
    expect_row(connection.prepare_cached(sql)?.execute(values)?)?;
    let sql = "INSERT INTO response_event (response, first, last, sealed) \
               SELECT id, ?2, ?3, ?4 FROM model_response WHERE id = ?1 AND key IS NOT NULL";
    let values = params![id.0.as_bytes(), events.first, events.last, events.sealed];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn end_response(connection: &Connection, end: &ResponseEnd) -> rusqlite::Result<()> {
    let sql = "UPDATE model_response SET state = ?2, \
               output = CASE WHEN key IS NULL THEN NULL ELSE ?3 END, bytes = bytes + ?4, \
               usd_nano = ?5, diem_nano = ?6, ended_ms = ?7, lease_until_ms = 0 \
               WHERE id = ?1 AND ended_ms IS NULL";
    connection.prepare_cached(sql)?.execute(params![
        end.id.0.as_bytes(),
        end.state.name(),
        end.output,
        end.bytes,
        end.cost.usd.nanos(),
        end.cost.diem.nanos(),
        end.at.ms(),
    ])?;
    Ok(())
}

/// Rows are deleted after their keys, in another transaction: a key that is overwritten is gone from
/// the file, and a row that is deleted may stay on a free page.
fn drop_expired(connection: &Connection, now: Timestamp, rows_max: usize) -> rusqlite::Result<()> {
    let sql = "DELETE FROM response_event WHERE response IN (SELECT id FROM model_response \
               WHERE key IS NULL AND ended_ms IS NOT NULL LIMIT ?1)";
    connection.prepare_cached(sql)?.execute([rows_max])?;
    let sql = "DELETE FROM model_response WHERE id IN (SELECT id FROM model_response \
               WHERE key IS NULL AND ended_ms IS NOT NULL LIMIT ?1)";
    connection.prepare_cached(sql)?.execute([rows_max])?;
    let sql = format!(
        "UPDATE model_response {DESTROY} WHERE id IN (SELECT id FROM model_response \
         WHERE key IS NOT NULL AND ended_ms IS NOT NULL AND expires_ms <= ?1 \
         ORDER BY expires_ms LIMIT ?2)"
    );
    connection.prepare_cached(&sql)?.execute(params![now.ms(), rows_max])?;
    Ok(())
}

fn expect_row(changed: usize) -> Result<(), WriteError> {
    if changed == 1 {
        return Ok(());
    }
    Err(WriteError::Refused(StoreError::Missing("no such response waits for this step")))
}

pub(crate) fn find_response(
    connection: &Connection,
    owner: OwnerId,
    id: ResponseId,
) -> rusqlite::Result<Option<SealedResponse>> {
    let sql = format!(
        "SELECT {COLUMNS}, input, output FROM model_response \
         WHERE id = ?1 AND owner = ?2 AND key IS NOT NULL"
    );
    let values = params![id.0.as_bytes(), owner.0.as_bytes()];
    connection.prepare_cached(&sql)?.query_row(values, response_at).optional()
}

pub(crate) fn read_record(
    connection: &Connection,
    id: ResponseId,
) -> rusqlite::Result<Option<ResponseRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM model_response WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0.as_bytes()], record_at).optional()
}

pub(crate) fn read_chain(
    connection: &Connection,
    owner: OwnerId,
    id: ResponseId,
    rows_max: usize,
) -> rusqlite::Result<Vec<SealedResponse>> {
    let sql = format!(
        "WITH RECURSIVE chain (link, place) AS ( \
           SELECT ?1, 0 \
           UNION ALL \
           SELECT model_response.previous, chain.place + 1 FROM chain \
           JOIN model_response ON model_response.id = chain.link \
           WHERE model_response.owner = ?2 AND model_response.key IS NOT NULL \
           AND model_response.previous IS NOT NULL AND chain.place + 1 < ?3) \
         SELECT {COLUMNS}, input, output FROM chain \
         JOIN model_response ON model_response.id = chain.link \
         WHERE owner = ?2 AND key IS NOT NULL ORDER BY place"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows_max = rows_max.min(RESPONSES_MAX);
    let values = params![id.0.as_bytes(), owner.0.as_bytes(), rows_max];
    statement.query_map(values, response_at)?.collect()
}

pub(crate) fn list_responses(
    connection: &Connection,
    filter: ResponseFilter,
) -> rusqlite::Result<Vec<ResponseRecord>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM model_response WHERE owner = ?1 AND key IS NOT NULL \
         AND (?2 IS NULL OR id < ?2) AND ?3 < expires_ms ORDER BY id DESC LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![
        filter.owner.0.as_bytes(),
        filter.before.as_ref().map(|id| id.0.as_bytes()),
        filter.now.ms(),
        filter.limit.min(RESPONSES_MAX),
    ];
    statement.query_map(values, record_at)?.collect()
}

pub(crate) fn find_due(
    connection: &Connection,
    now: Timestamp,
    each_max: usize,
    limit: usize,
) -> rusqlite::Result<Vec<ResponseRecord>> {
    let sql = format!(
        "WITH waiting (response, place) AS ( \
           SELECT id, row_number() OVER (PARTITION BY owner ORDER BY created_ms, id) \
           FROM model_response WHERE ended_ms IS NULL AND lease_until_ms <= ?1) \
         SELECT {COLUMNS} FROM waiting JOIN model_response ON id = response \
         WHERE place <= ?2 ORDER BY place, created_ms, id LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![now.ms(), each_max, limit.min(RESPONSES_MAX)];
    statement.query_map(values, record_at)?.collect()
}

pub(crate) fn count_open(connection: &Connection, owner: OwnerId) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM model_response WHERE owner = ?1 AND ended_ms IS NULL";
    connection.prepare_cached(sql)?.query_row([owner.0.as_bytes()], |row| row.get(0))
}

pub(crate) fn read_events(
    connection: &Connection,
    id: ResponseId,
    after: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<SealedEvents>> {
    let sql = "SELECT first, last, sealed FROM response_event \
               WHERE response = ?1 AND (?2 IS NULL OR ?2 < last) ORDER BY first LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![id.0.as_bytes(), after, limit.min(RESPONSES_MAX)];
    let rows = statement.query_map(values, |row| {
        Ok(SealedEvents { first: row.get(0)?, last: row.get(1)?, sealed: row.get(2)? })
    })?;
    rows.collect()
}

pub(crate) fn sum_stored(
    connection: &Connection,
    owner: OwnerId,
) -> rusqlite::Result<StoredTotals> {
    let sql = "SELECT sum(objects), sum(bytes) FROM ( \
               SELECT count(*) AS objects, coalesce(sum(bytes), 0) AS bytes FROM model_response \
               WHERE owner = ?1 AND key IS NOT NULL \
               UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation \
               WHERE owner = ?1 AND key IS NOT NULL \
               UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation_item \
               WHERE owner = ?1 AND key IS NOT NULL)";
    connection.prepare_cached(sql)?.query_row([owner.0.as_bytes()], |row| {
        Ok(StoredTotals { objects: row.get(0)?, bytes: row.get(1)? })
    })
}

fn response_at(row: &Row<'_>) -> rusqlite::Result<SealedResponse> {
    Ok(SealedResponse { record: record_at(row)?, input: row.get(21)?, output: row.get(22)? })
}

fn record_at(row: &Row<'_>) -> rusqlite::Result<ResponseRecord> {
    Ok(ResponseRecord {
        id: read_id(row, 0).map(ResponseId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        state: read_parsed(row, 2, ResponseState::parse)?,
        model: row.get(3)?,
        previous: read_optional_id(row, 4)?.map(ResponseId),
        depth: row.get(5)?,
        conversation: read_optional_id(row, 6)?.map(ConversationId),
        is_background: row.get(7)?,
        is_streamed: row.get(8)?,
        bytes: row.get(9)?,
        key: row.get(10)?,
        cost: ResponseCost { usd: read_nano(row, 11)?, diem: read_nano(row, 12)? },
        fence: row.get(13)?,
        lease_until: read_time(row, 14)?,
        wants_cancel: row.get(15)?,
        events: row.get(16)?,
        created: read_time(row, 17)?,
        started: read_optional_time(row, 18)?,
        ended: read_optional_time(row, 19)?,
        expires: read_time(row, 20)?,
    })
}
