//! Stored responses, and queries about conversations.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::conversation::{
    ConversationId, ConversationItem, ConversationRecord, ITEMS_MAX, ItemQuery,
};
use crate::error::StoreError;
use crate::model_response::{
    RESPONSES_MAX, ResponseCost, ResponseEnd, ResponseFilter, ResponseId, ResponseRecord,
    ResponseState, ResponseWrite, SealedEvents, SealedResponse, StoredTotals,
};
use crate::sql::connection::RowResult;
use crate::sql::conversations;
use crate::sql::text::{EMPTY_BYTES, shared_sql};
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText, to_signed};
use crate::write::DialogueWrite;
use crate::{ResponseStore, StoreFuture};

const COLUMNS: SqlText = SqlText::same(
    "id, owner, state, model, previous, depth, conversation, is_background, is_streamed, bytes, \
     key, usd_nano, diem_nano, fence, lease_until_ms, wants_cancel, events, created_ms, \
     started_ms, ended_ms, expires_ms",
);

const FIND: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    ", input, output FROM model_response WHERE id = $1 AND owner = $2 AND key IS NOT NULL"
);

const READ_RECORD: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM model_response WHERE id = $1");

const READ_CHAIN: SqlText = shared_sql!(
    "WITH RECURSIVE chain (link, place) AS ( \
       SELECT $1::uuid, 0::bigint \
       UNION ALL \
       SELECT model_response.previous, chain.place + 1 FROM chain \
       JOIN model_response ON model_response.id = chain.link \
       WHERE model_response.owner = $2 AND model_response.key IS NOT NULL \
       AND model_response.previous IS NOT NULL AND chain.place + 1 < $3) \
     SELECT ",
    COLUMNS,
    ", input, output FROM chain JOIN model_response ON model_response.id = chain.link \
     WHERE owner = $2 AND key IS NOT NULL ORDER BY place"
);

const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM model_response WHERE owner = $1 AND key IS NOT NULL \
     AND ($2::uuid IS NULL OR id < $2) AND $3 < expires_ms ORDER BY id DESC LIMIT $4"
);

const FIND_DUE: SqlText = shared_sql!(
    "WITH waiting (response, place) AS ( \
       SELECT id, row_number() OVER (PARTITION BY owner ORDER BY created_ms, id) \
       FROM model_response WHERE ended_ms IS NULL AND lease_until_ms <= $1) \
     SELECT ",
    COLUMNS,
    " FROM waiting JOIN model_response ON id = response \
     WHERE place <= $2 ORDER BY place, created_ms, id LIMIT $3"
);

const COUNT_OPEN: SqlText =
    shared_sql!("SELECT count(*) FROM model_response WHERE owner = $1 AND ended_ms IS NULL");

const READ_EVENTS: SqlText = shared_sql!(
    "SELECT first, last, sealed FROM response_event \
     WHERE response = $1 AND ($2::bigint IS NULL OR $2 < last) ORDER BY first LIMIT $3"
);

const SUM_STORED: SqlText = shared_sql!(
    "SELECT sum(objects)::bigint, sum(bytes)::bigint FROM ( \
     SELECT count(*) AS objects, coalesce(sum(bytes), 0) AS bytes FROM model_response \
     WHERE owner = $1 AND key IS NOT NULL \
     UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation \
     WHERE owner = $1 AND key IS NOT NULL \
     UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation_item \
     WHERE owner = $1 AND key IS NOT NULL) AS stored"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO model_response (",
    COLUMNS,
    ", input, output) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
     $16, $17, $18, $19, $20, $21, $22, $23)"
);

const CLAIM: SqlText = shared_sql!(
    "UPDATE model_response SET fence = fence + 1, lease_until_ms = $3, state = 'IN_PROGRESS', \
     started_ms = coalesce(started_ms, $4) \
     WHERE id = $1 AND fence = $2 AND ended_ms IS NULL AND lease_until_ms <= $4"
);

const BEAT: SqlText = shared_sql!(
    "UPDATE model_response SET lease_until_ms = $3 \
     WHERE id = $1 AND fence = $2 AND ended_ms IS NULL"
);

const COUNT_EVENTS: SqlText = shared_sql!(
    "UPDATE model_response SET events = $4 \
     WHERE id = $1 AND fence = $2 AND events = $3 AND ended_ms IS NULL"
);

const ADD_EVENTS: SqlText = shared_sql!(
    "INSERT INTO response_event (response, first, last, sealed) \
     SELECT id, $2::bigint, $3::bigint, $4::bytea FROM model_response \
     WHERE id = $1 AND key IS NOT NULL"
);

const END: SqlText = shared_sql!(
    "UPDATE model_response SET state = $2, \
     output = CASE WHEN key IS NULL THEN NULL ELSE $3::bytea END, bytes = bytes + $4, \
     usd_nano = $5, diem_nano = $6, ended_ms = $7, lease_until_ms = 0 \
     WHERE id = $1 AND ended_ms IS NULL"
);

const WANT_CANCEL: SqlText =
    shared_sql!("UPDATE model_response SET wants_cancel = TRUE WHERE id = $1 AND ended_ms IS NULL");

const BREAK_LEASES: SqlText =
    shared_sql!("UPDATE model_response SET lease_until_ms = 0 WHERE ended_ms IS NULL");

const DELETE: SqlText = shared_sql!(
    "UPDATE model_response SET key = NULL, input = ",
    EMPTY_BYTES,
    ", output = NULL, wants_cancel = ended_ms IS NULL WHERE id = $1 AND owner = $2"
);

const DELETE_EVENTS: SqlText = shared_sql!(
    "DELETE FROM response_event WHERE response = \
     (SELECT id FROM model_response WHERE id = $1 AND owner = $2)"
);

const DROP_EVENTS: SqlText = shared_sql!(
    "DELETE FROM response_event WHERE response IN (SELECT id FROM model_response \
     WHERE key IS NULL AND ended_ms IS NOT NULL ORDER BY id LIMIT $1)"
);

const DROP_ROWS: SqlText = shared_sql!(
    "DELETE FROM model_response WHERE id IN (SELECT id FROM model_response \
     WHERE key IS NULL AND ended_ms IS NOT NULL ORDER BY id LIMIT $1)"
);

const DESTROY_EXPIRED: SqlText = shared_sql!(
    "UPDATE model_response SET key = NULL, input = ",
    EMPTY_BYTES,
    ", output = NULL WHERE id IN (SELECT id FROM model_response \
     WHERE key IS NOT NULL AND ended_ms IS NOT NULL AND expires_ms <= $1 \
     ORDER BY expires_ms LIMIT $2)"
);

impl<S: SqlStore> ResponseStore for S {
    fn find_response(
        &self,
        owner: OwnerId,
        id: ResponseId,
    ) -> StoreFuture<'_, Option<SealedResponse>> {
        self.read_row(ReadMode::LOOKUP, FIND, sql_values![id, owner], response_at)
    }

    fn response_record(&self, id: ResponseId) -> StoreFuture<'_, Option<ResponseRecord>> {
        self.read_row(ReadMode::LOOKUP, READ_RECORD, sql_values![id], record_at)
    }

    fn response_chain(
        &self,
        owner: OwnerId,
        id: ResponseId,
        rows_max: usize,
    ) -> StoreFuture<'_, Vec<SealedResponse>> {
        let values = sql_values![id, owner, rows_max.min(RESPONSES_MAX)];
        self.read_rows(ReadMode::STATEMENT, READ_CHAIN, values, response_at)
    }

    fn list_responses(&self, filter: ResponseFilter) -> StoreFuture<'_, Vec<ResponseRecord>> {
        let limit = filter.limit.min(RESPONSES_MAX);
        let values = sql_values![filter.owner, filter.before, filter.now, limit];
        self.read_rows(ReadMode::STATEMENT, LIST, values, record_at)
    }

    fn due_responses(
        &self,
        now: Timestamp,
        each_max: usize,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ResponseRecord>> {
        let values = sql_values![now, each_max, limit.min(RESPONSES_MAX)];
        self.read_rows(ReadMode::STATEMENT, FIND_DUE, values, record_at)
    }

    fn open_responses(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.read_single(ReadMode::STATEMENT, COUNT_OPEN, sql_values![owner], |row| row.get(0))
    }

    fn response_events(
        &self,
        id: ResponseId,
        after: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<SealedEvents>> {
        let after = after.map(|after| i64::try_from(after).unwrap_or(i64::MAX));
        let values = sql_values![id, after, limit.min(RESPONSES_MAX)];
        self.read_rows(ReadMode::STATEMENT, READ_EVENTS, values, |row| {
            Ok(SealedEvents { first: row.get(0)?, last: row.get(1)?, sealed: row.get(2)? })
        })
    }

    fn stored_totals(&self, owner: OwnerId) -> StoreFuture<'_, StoredTotals> {
        self.read_single(ReadMode::STATEMENT, SUM_STORED, sql_values![owner], |row| {
            Ok(StoredTotals { objects: row.get(0)?, bytes: row.get(1)? })
        })
    }

    fn find_conversation(
        &self,
        owner: OwnerId,
        id: ConversationId,
    ) -> StoreFuture<'_, Option<ConversationRecord>> {
        let values = sql_values![id, owner];
        self.read_row(ReadMode::LOOKUP, conversations::FIND, values, conversations::conversation_at)
    }

    fn conversation_items(&self, query: ItemQuery) -> StoreFuture<'_, Vec<ConversationItem>> {
        let sql = if query.is_ascending {
            conversations::LIST_OLDEST_FIRST
        } else {
            conversations::LIST_NEWEST_FIRST
        };
        let after = query.after.map(|after| i64::try_from(after).unwrap_or(i64::MAX));
        let values = sql_values![query.conversation, after, query.limit.min(ITEMS_MAX)];
        self.read_rows(ReadMode::STATEMENT, sql, values, conversations::item_at)
    }

    fn conversation_item<'a>(
        &'a self,
        conversation: ConversationId,
        item: &'a str,
    ) -> StoreFuture<'a, Option<ConversationItem>> {
        let values = sql_values![conversation, item.to_owned()];
        self.read_row(ReadMode::LOOKUP, conversations::FIND_ITEM, values, conversations::item_at)
    }
}

pub(crate) fn post_dialogue<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a DialogueWrite,
) -> Result<(), P::Error> {
    match write {
        DialogueWrite::Response(write) => post_response(posting, write),
        DialogueWrite::Conversation(write) => conversations::post_conversation(posting, write),
    }
}

fn post_response<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a ResponseWrite,
) -> Result<(), P::Error> {
    match write {
        ResponseWrite::Add(response) => add_response(posting, response),
        ResponseWrite::Claim { id, fence, lease_until, at } => {
            let values = sql_values![*id, to_signed(*fence)?, *lease_until, *at];
            posting.run_one(CLAIM, values, no_such_response())
        }
        ResponseWrite::Beat { id, fence, lease_until } => {
            let values = sql_values![*id, to_signed(*fence)?, *lease_until];
            posting.run_one(BEAT, values, no_such_response())
        }
        ResponseWrite::AddEvents { id, fence, events } => add_events(posting, *id, *fence, events),
        ResponseWrite::End(end) => end_response(posting, end),
        ResponseWrite::WantCancel(id) => posting.run(WANT_CANCEL, sql_values![*id]),
        ResponseWrite::BreakLeases => posting.run(BREAK_LEASES, []),
        ResponseWrite::Delete { owner, id } => {
            posting.run(DELETE_EVENTS, sql_values![*id, *owner])?;
            posting.run(DELETE, sql_values![*id, *owner])
        }
        // Rows are deleted after their keys, in another transaction: a key that is overwritten is
        // gone from the file of SQLite, and a row that is deleted may stay on a free page.
        ResponseWrite::DropExpired { now, rows_max } => {
            posting.run(DROP_EVENTS, sql_values![*rows_max])?;
            posting.run(DROP_ROWS, sql_values![*rows_max])?;
            posting.run(DESTROY_EXPIRED, sql_values![*now, *rows_max])
        }
    }
}

fn add_response<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    SealedResponse { record, input, output }: &'a SealedResponse,
) -> Result<(), P::Error> {
    let values = sql_values![
        record.id,
        record.owner,
        record.state.name(),
        &record.model,
        record.previous,
        to_signed(record.depth)?,
        record.conversation,
        record.is_background,
        record.is_streamed,
        to_signed(record.bytes)?,
        record.key.as_ref(),
        record.cost.usd,
        record.cost.diem,
        to_signed(record.fence)?,
        record.lease_until,
        record.wants_cancel,
        to_signed(record.events)?,
        record.created,
        record.started,
        record.ended,
        record.expires,
        input,
        output.as_ref(),
    ];
    posting.run(ADD, values)
}

fn add_events<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    id: ResponseId,
    fence: u64,
    events: &'a SealedEvents,
) -> Result<(), P::Error> {
    let (first, last) = (to_signed(events.first)?, to_signed(events.last)?);
    let values = sql_values![id, to_signed(fence)?, first, last + 1];
    posting.run_one(COUNT_EVENTS, values, no_such_response())?;
    posting.run(ADD_EVENTS, sql_values![id, first, last, &events.sealed])
}

fn end_response<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    end: &'a ResponseEnd,
) -> Result<(), P::Error> {
    let values = sql_values![
        end.id,
        end.state.name(),
        &end.output,
        to_signed(end.bytes)?,
        end.cost.usd,
        end.cost.diem,
        end.at,
    ];
    posting.run(END, values)
}

fn no_such_response() -> StoreError {
    StoreError::Missing("no such response waits for this step")
}

fn response_at(row: &dyn SqlRow) -> RowResult<SealedResponse> {
    Ok(SealedResponse { record: record_at(row)?, input: row.get(21)?, output: row.get(22)? })
}

fn record_at(row: &dyn SqlRow) -> RowResult<ResponseRecord> {
    Ok(ResponseRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        state: row.parse(2, ResponseState::parse)?,
        model: row.get(3)?,
        previous: row.get(4)?,
        depth: row.get(5)?,
        conversation: row.get(6)?,
        is_background: row.get(7)?,
        is_streamed: row.get(8)?,
        bytes: row.get(9)?,
        key: row.get(10)?,
        cost: ResponseCost { usd: row.get(11)?, diem: row.get(12)? },
        fence: row.get(13)?,
        lease_until: row.get(14)?,
        wants_cancel: row.get(15)?,
        events: row.get(16)?,
        created: row.get(17)?,
        started: row.get(18)?,
        ended: row.get(19)?,
        expires: row.get(20)?,
    })
}
