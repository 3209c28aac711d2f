//! Statements for stored responses.

use store::error::StoreError;
use store::model_response::{ResponseEnd, ResponseId, ResponseWrite, SealedEvents, SealedResponse};
use store::write::DialogueWrite;

use crate::changes::ChangeNotice;
use crate::columns::{to_row_limit, to_signed, to_sql_text};
use crate::posting::conversations;
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO model_response (id, owner, state, model, previous, depth, \
    conversation, is_background, is_streamed, bytes, key, usd_nano, diem_nano, fence, \
    lease_until_ms, wants_cancel, events, created_ms, started_ms, ended_ms, expires_ms, input, \
    output) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
    $18, $19, $20, $21, $22, $23)";

const CLAIM: &str = "UPDATE model_response SET fence = fence + 1, lease_until_ms = $3, \
    state = 'IN_PROGRESS', started_ms = coalesce(started_ms, $4) \
    WHERE id = $1 AND fence = $2 AND ended_ms IS NULL AND lease_until_ms <= $4";

const BEAT: &str = "UPDATE model_response SET lease_until_ms = $3 \
    WHERE id = $1 AND fence = $2 AND ended_ms IS NULL";

const COUNT_EVENTS: &str = "UPDATE model_response SET events = $4 \
    WHERE id = $1 AND fence = $2 AND events = $3 AND ended_ms IS NULL";

const ADD_EVENTS: &str = "INSERT INTO response_event (response, first, last, sealed) \
    SELECT id, $2::bigint, $3::bigint, $4::bytea FROM model_response \
    WHERE id = $1 AND key IS NOT NULL";

const END: &str = "UPDATE model_response SET state = $2, \
    output = CASE WHEN key IS NULL THEN NULL ELSE $3::bytea END, bytes = bytes + $4, \
    usd_nano = $5, diem_nano = $6, ended_ms = $7, lease_until_ms = 0 \
    WHERE id = $1 AND ended_ms IS NULL";

const WANT_CANCEL: &str =
    "UPDATE model_response SET wants_cancel = TRUE WHERE id = $1 AND ended_ms IS NULL";

const DELETE: &str = "UPDATE model_response SET key = NULL, input = '', output = NULL, \
    wants_cancel = ended_ms IS NULL WHERE id = $1 AND owner = $2";

const DELETE_EVENTS: &str = "DELETE FROM response_event WHERE response = \
    (SELECT id FROM model_response WHERE id = $1 AND owner = $2)";

const DROP_EVENTS: &str = "DELETE FROM response_event WHERE response IN \
    (SELECT id FROM model_response WHERE key IS NULL AND ended_ms IS NOT NULL \
    ORDER BY id LIMIT $1)";

const DROP_ROWS: &str = "DELETE FROM model_response WHERE id IN \
    (SELECT id FROM model_response WHERE key IS NULL AND ended_ms IS NOT NULL \
    ORDER BY id LIMIT $1)";

const DESTROY_EXPIRED: &str = "UPDATE model_response SET key = NULL, input = '', output = NULL \
    WHERE id IN (SELECT id FROM model_response WHERE key IS NOT NULL AND ended_ms IS NOT NULL \
    AND expires_ms <= $1 ORDER BY expires_ms LIMIT $2)";

pub(crate) fn post_dialogue<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a DialogueWrite,
) -> Result<(), StoreError> {
    match write {
        DialogueWrite::Response(write) => post_response(statements, write),
        DialogueWrite::Conversation(write) => conversations::post_conversation(statements, write),
    }
}

fn post_response<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a ResponseWrite,
) -> Result<(), StoreError> {
    match write {
        ResponseWrite::Add(response) => {
            if response.record.state.is_open() {
                statements.notify(ChangeNotice::Jobs);
            }
            return add_response(statements, response);
        }
        ResponseWrite::Claim { id, fence, lease_until, at } => {
            let values = values![id.0, to_signed(*fence)?, lease_until.ms(), at.ms()];
            statements.add_one(CLAIM, values, no_such_response());
        }
        ResponseWrite::Beat { id, fence, lease_until } => {
            let values = values![id.0, to_signed(*fence)?, lease_until.ms()];
            statements.add_one(BEAT, values, no_such_response());
        }
        ResponseWrite::AddEvents { id, fence, events } => {
            return add_events(statements, *id, *fence, events);
        }
        ResponseWrite::End(end) => return end_response(statements, end),
        ResponseWrite::WantCancel(id) => {
            statements.add(WANT_CANCEL, values![id.0]);
            statements.notify(ChangeNotice::Jobs);
        }
        ResponseWrite::BreakLeases => {
            let sql = "UPDATE model_response SET lease_until_ms = 0 WHERE ended_ms IS NULL";
            statements.add(sql, values![]);
        }
        ResponseWrite::Delete { owner, id } => {
            statements.add(DELETE_EVENTS, values![id.0, owner.0]);
            statements.add(DELETE, values![id.0, owner.0]);
        }
        ResponseWrite::DropExpired { now, rows_max } => {
            let limit = to_row_limit(*rows_max);
            statements.add(DROP_EVENTS, values![limit]);
            statements.add(DROP_ROWS, values![limit]);
            statements.add(DESTROY_EXPIRED, values![now.ms(), limit]);
        }
    }
    Ok(())
}

fn add_response<'a>(
    statements: &mut SqlStatements<'a>,
    SealedResponse { record, input, output }: &'a SealedResponse,
) -> Result<(), StoreError> {
    let values = values![
        record.id.0,
        record.owner.0,
        record.state.name(),
        to_sql_text(&record.model),
        record.previous.map(|id| id.0),
        to_signed(record.depth)?,
        record.conversation.map(|id| id.0),
        record.is_background,
        record.is_streamed,
        to_signed(record.bytes)?,
        record.key.as_ref().map(|key| key.as_slice()),
        record.cost.usd.nanos(),
        record.cost.diem.nanos(),
        to_signed(record.fence)?,
        record.lease_until.ms(),
        record.wants_cancel,
        to_signed(record.events)?,
        record.created.ms(),
        record.started.map(|at| at.ms()),
        record.ended.map(|at| at.ms()),
        record.expires.ms(),
        input.as_slice(),
        output.as_deref(),
    ];
    statements.add(ADD, values);
    Ok(())
}

fn add_events<'a>(
    statements: &mut SqlStatements<'a>,
    id: ResponseId,
    fence: u64,
    events: &'a SealedEvents,
) -> Result<(), StoreError> {
    let (first, last) = (to_signed(events.first)?, to_signed(events.last)?);
    let values = values![id.0, to_signed(fence)?, first, last + 1];
    statements.add_one(COUNT_EVENTS, values, no_such_response());
    statements.add(ADD_EVENTS, values![id.0, first, last, events.sealed.as_slice()]);
    Ok(())
}

fn end_response<'a>(
    statements: &mut SqlStatements<'a>,
    end: &'a ResponseEnd,
) -> Result<(), StoreError> {
    let values = values![
        end.id.0,
        end.state.name(),
        end.output.as_slice(),
        to_signed(end.bytes)?,
        end.cost.usd.nanos(),
        end.cost.diem.nanos(),
        end.at.ms(),
    ];
    statements.add(END, values);
    Ok(())
}

fn no_such_response() -> StoreError {
    StoreError::Missing("no such response waits for this step")
}
