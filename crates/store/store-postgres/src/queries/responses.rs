//! Queries about stored responses and conversations.

use ledger_core::OwnerId;
use moment::Timestamp;
use store::conversation::{ConversationId, ConversationItem, ConversationRecord, ItemQuery};
use store::model_response::{
    RESPONSES_MAX, ResponseCost, ResponseFilter, ResponseId, ResponseRecord, ResponseState,
    SealedEvents, SealedResponse, StoredTotals,
};
use store::{ResponseStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_nano, read_optional_bytes, read_optional_time, read_parsed, read_time,
    read_unsigned, to_row_limit, to_signed,
};
use crate::error::PgError;
use crate::queries::conversations;
use crate::session::PostgresSession;

const COLUMNS: &str = "id, owner, state, model, previous, depth, conversation, is_background, \
     is_streamed, bytes, key, usd_nano, diem_nano, fence, lease_until_ms, wants_cancel, events, \
     created_ms, started_ms, ended_ms, expires_ms";

impl ResponseStore for PostgresStore {
    fn find_response(
        &self,
        owner: OwnerId,
        id: ResponseId,
    ) -> StoreFuture<'_, Option<SealedResponse>> {
        self.query_with_timeout(async move |db| find_response(&db, owner, id).await)
    }

    fn response_record(&self, id: ResponseId) -> StoreFuture<'_, Option<ResponseRecord>> {
        self.query_with_timeout(async move |db| read_record(&db, id).await)
    }

    fn response_chain(
        &self,
        owner: OwnerId,
        id: ResponseId,
        rows_max: usize,
    ) -> StoreFuture<'_, Vec<SealedResponse>> {
        self.query(async move |db| read_chain(&db, owner, id, rows_max).await)
    }

    fn list_responses(&self, filter: ResponseFilter) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.query(async move |db| list_responses(&db, filter).await)
    }

    fn due_responses(
        &self,
        now: Timestamp,
        each_max: usize,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ResponseRecord>> {
        self.query(async move |db| find_due(&db, now, each_max, limit).await)
    }

    fn open_responses(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query(async move |db| count_open(&db, owner).await)
    }

    fn response_events(
        &self,
        id: ResponseId,
        after: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<SealedEvents>> {
        self.query(async move |db| read_events(&db, id, after, limit).await)
    }

    fn stored_totals(&self, owner: OwnerId) -> StoreFuture<'_, StoredTotals> {
        self.query(async move |db| sum_stored(&db, owner).await)
    }

    fn find_conversation(
        &self,
        owner: OwnerId,
        id: ConversationId,
    ) -> StoreFuture<'_, Option<ConversationRecord>> {
        self.query_with_timeout(async move |db| {
            conversations::find_conversation(&db, owner, id).await
        })
    }

    fn conversation_items(&self, query: ItemQuery) -> StoreFuture<'_, Vec<ConversationItem>> {
        self.query(async move |db| conversations::list_items(&db, query).await)
    }

    fn conversation_item<'a>(
        &'a self,
        conversation: ConversationId,
        item: &'a str,
    ) -> StoreFuture<'a, Option<ConversationItem>> {
        self.query_with_timeout(async move |db| {
            conversations::find_item(&db, conversation, item).await
        })
    }
}

async fn find_response(
    db: &PostgresSession,
    owner: OwnerId,
    id: ResponseId,
) -> Result<Option<SealedResponse>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS}, input, output FROM model_response \
         WHERE id = $1 AND owner = $2 AND key IS NOT NULL"
    );
    db.row(&sql, &[&id.0, &owner.0]).await?.map(|row| response_at(&row)).transpose()
}

async fn read_record(
    db: &PostgresSession,
    id: ResponseId,
) -> Result<Option<ResponseRecord>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM model_response WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| record_at(&row)).transpose()
}

async fn read_chain(
    db: &PostgresSession,
    owner: OwnerId,
    id: ResponseId,
    rows_max: usize,
) -> Result<Vec<SealedResponse>, PgError> {
    let sql = format!(
        "WITH RECURSIVE chain (link, place) AS ( \
           SELECT $1::uuid, 0::bigint \
           UNION ALL \
           SELECT model_response.previous, chain.place + 1 FROM chain \
           JOIN model_response ON model_response.id = chain.link \
           WHERE model_response.owner = $2 AND model_response.key IS NOT NULL \
           AND model_response.previous IS NOT NULL AND chain.place + 1 < $3) \
         SELECT {COLUMNS}, input, output FROM chain \
         JOIN model_response ON model_response.id = chain.link \
         WHERE owner = $2 AND key IS NOT NULL ORDER BY place"
    );
    let limit = to_row_limit(rows_max.min(RESPONSES_MAX));
    let rows = db.rows(&sql, &[&id.0, &owner.0, &limit]).await?;
    rows.iter().map(response_at).collect()
}

async fn list_responses(
    db: &PostgresSession,
    filter: ResponseFilter,
) -> Result<Vec<ResponseRecord>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM model_response WHERE owner = $1 AND key IS NOT NULL \
         AND ($2::uuid IS NULL OR id < $2) AND $3 < expires_ms ORDER BY id DESC LIMIT $4"
    );
    let before: Option<Uuid> = filter.before.map(|id| id.0);
    let limit = to_row_limit(filter.limit.min(RESPONSES_MAX));
    let rows = db.rows(&sql, &[&filter.owner.0, &before, &filter.now.ms(), &limit]).await?;
    rows.iter().map(record_at).collect()
}

async fn find_due(
    db: &PostgresSession,
    now: Timestamp,
    each_max: usize,
    limit: usize,
) -> Result<Vec<ResponseRecord>, PgError> {
    let sql = format!(
        "WITH waiting (response, place) AS ( \
           SELECT id, row_number() OVER (PARTITION BY owner ORDER BY created_ms, id) \
           FROM model_response WHERE ended_ms IS NULL AND lease_until_ms <= $1) \
         SELECT {COLUMNS} FROM waiting JOIN model_response ON id = response \
         WHERE place <= $2 ORDER BY place, created_ms, id LIMIT $3"
    );
    let limit = to_row_limit(limit.min(RESPONSES_MAX));
    let rows = db.rows(&sql, &[&now.ms(), &to_row_limit(each_max), &limit]).await?;
    rows.iter().map(record_at).collect()
}

async fn count_open(db: &PostgresSession, owner: OwnerId) -> Result<u64, PgError> {
    let sql = "SELECT count(*) FROM model_response WHERE owner = $1 AND ended_ms IS NULL";
    read_unsigned(&db.single_row(sql, &[&owner.0]).await?, 0)
}

async fn read_events(
    db: &PostgresSession,
    id: ResponseId,
    after: Option<u64>,
    limit: usize,
) -> Result<Vec<SealedEvents>, PgError> {
    let sql = "SELECT first, last, sealed FROM response_event \
               WHERE response = $1 AND ($2::bigint IS NULL OR $2 < last) ORDER BY first LIMIT $3";
    let after = after.map(to_signed).transpose().map_err(PgError::Refused)?;
    let limit = to_row_limit(limit.min(RESPONSES_MAX));
    let rows = db.rows(sql, &[&id.0, &after, &limit]).await?;
    let read = |row: &Row| {
        let (first, last) = (read_unsigned(row, 0)?, read_unsigned(row, 1)?);
        Ok(SealedEvents { first, last, sealed: read_column(row, 2)? })
    };
    rows.iter().map(read).collect()
}

async fn sum_stored(db: &PostgresSession, owner: OwnerId) -> Result<StoredTotals, PgError> {
    let sql = "SELECT sum(objects)::bigint, sum(bytes)::bigint FROM ( \
               SELECT count(*) AS objects, coalesce(sum(bytes), 0) AS bytes FROM model_response \
               WHERE owner = $1 AND key IS NOT NULL \
               UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation \
               WHERE owner = $1 AND key IS NOT NULL \
               UNION ALL SELECT count(*), coalesce(sum(bytes), 0) FROM conversation_item \
               WHERE owner = $1 AND key IS NOT NULL) AS stored";
    let row = db.single_row(sql, &[&owner.0]).await?;
    Ok(StoredTotals { objects: read_unsigned(&row, 0)?, bytes: read_unsigned(&row, 1)? })
}

fn response_at(row: &Row) -> Result<SealedResponse, PgError> {
    let (input, output) = (read_column(row, 21)?, read_column(row, 22)?);
    Ok(SealedResponse { record: record_at(row)?, input, output })
}

fn record_at(row: &Row) -> Result<ResponseRecord, PgError> {
    let (previous, conversation): (Option<Uuid>, Option<Uuid>) =
        (read_column(row, 4)?, read_column(row, 6)?);
    Ok(ResponseRecord {
        id: ResponseId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        state: read_parsed(row, 2, ResponseState::parse)?,
        model: read_column(row, 3)?,
        previous: previous.map(ResponseId),
        depth: read_unsigned(row, 5)?,
        conversation: conversation.map(ConversationId),
        is_background: read_column(row, 7)?,
        is_streamed: read_column(row, 8)?,
        bytes: read_unsigned(row, 9)?,
        key: read_optional_bytes(row, 10)?,
        cost: ResponseCost { usd: read_nano(row, 11)?, diem: read_nano(row, 12)? },
        fence: read_unsigned(row, 13)?,
        lease_until: read_time(row, 14)?,
        wants_cancel: read_column(row, 15)?,
        events: read_unsigned(row, 16)?,
        created: read_time(row, 17)?,
        started: read_optional_time(row, 18)?,
        ended: read_optional_time(row, 19)?,
        expires: read_time(row, 20)?,
    })
}
