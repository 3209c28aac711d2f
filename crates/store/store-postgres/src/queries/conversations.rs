//! Queries about conversations.

use ledger_core::OwnerId;
use store::conversation::{
    ConversationId, ConversationItem, ConversationRecord, ITEMS_MAX, ItemQuery, NewConversationItem,
};
use tokio_postgres::Row;

use crate::columns::{
    read_bytes, read_column, read_time, read_unsigned, to_row_limit, to_signed, to_sql_text,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const ITEM_COLUMNS: &str = "position, item, key, sealed, bytes";

pub(crate) async fn find_conversation(
    db: &PostgresSession,
    owner: OwnerId,
    id: ConversationId,
) -> Result<Option<ConversationRecord>, PgError> {
    let sql = "SELECT id, owner, key, metadata, bytes, created_ms, expires_ms FROM conversation \
               WHERE id = $1 AND owner = $2 AND key IS NOT NULL";
    let read = |row: Row| {
        Ok(ConversationRecord {
            id: ConversationId(read_column(&row, 0)?),
            owner: OwnerId(read_column(&row, 1)?),
            key: read_bytes(&row, 2)?,
            metadata: read_column(&row, 3)?,
            bytes: read_unsigned(&row, 4)?,
            created: read_time(&row, 5)?,
            expires: read_time(&row, 6)?,
        })
    };
    db.row(sql, &[&id.0, &owner.0]).await?.map(read).transpose()
}

pub(crate) async fn list_items(
    db: &PostgresSession,
    query: ItemQuery,
) -> Result<Vec<ConversationItem>, PgError> {
    let order = if query.is_ascending { "ASC" } else { "DESC" };
    let beyond = if query.is_ascending { ">" } else { "<" };
    let sql = format!(
        "SELECT {ITEM_COLUMNS} FROM conversation_item WHERE conversation = $1 AND key IS NOT NULL \
         AND ($2::bigint IS NULL OR position {beyond} $2) ORDER BY position {order} LIMIT $3"
    );
    let after = query.after.map(to_signed).transpose().map_err(PgError::Refused)?;
    let limit = to_row_limit(query.limit.min(ITEMS_MAX));
    let rows = db.rows(&sql, &[&query.conversation.0, &after, &limit]).await?;
    rows.iter().map(item_at).collect()
}

pub(crate) async fn find_item(
    db: &PostgresSession,
    conversation: ConversationId,
    item: &str,
) -> Result<Option<ConversationItem>, PgError> {
    let sql = format!(
        "SELECT {ITEM_COLUMNS} FROM conversation_item \
         WHERE conversation = $1 AND item = $2 AND key IS NOT NULL"
    );
    let found = db.row(&sql, &[&conversation.0, &to_sql_text(item)]).await?;
    found.map(|row| item_at(&row)).transpose()
}

fn item_at(row: &Row) -> Result<ConversationItem, PgError> {
    let content = NewConversationItem {
        item: read_column(row, 1)?,
        key: read_bytes(row, 2)?,
        sealed: read_column(row, 3)?,
        bytes: read_unsigned(row, 4)?,
    };
    Ok(ConversationItem { position: read_unsigned(row, 0)?, content })
}
