//! Reads and writes the rows of conversations.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::conversation::{
    ConversationId, ConversationItem, ConversationRecord, ConversationWrite, ITEMS_MAX, ItemQuery,
    NewConversationItem,
};
use crate::error::StoreError;
use crate::sqlite::columns::{read_id, read_time};
use crate::sqlite::write_error::WriteError;

const DESTROY_ITEMS: &str = "UPDATE conversation_item SET key = NULL, sealed = x''";

pub(crate) fn post_conversation(
    connection: &Connection,
    write: &ConversationWrite,
) -> Result<(), WriteError> {
    match write {
        ConversationWrite::Add(conversation) => add_conversation(connection, conversation)?,
        ConversationWrite::SetMetadata { owner, id, metadata, bytes } => {
            let sql = "UPDATE conversation SET metadata = ?3, bytes = ?4 \
                       WHERE id = ?1 AND owner = ?2 AND key IS NOT NULL";
            let values = params![id.0.as_bytes(), owner.0.as_bytes(), metadata, bytes];
            if connection.prepare_cached(sql)?.execute(values)? != 1 {
                return Err(WriteError::Refused(StoreError::Missing("no such conversation")));
            }
        }
        ConversationWrite::AddItems { owner, conversation, items, expires } => {
            let sql = "UPDATE conversation SET expires_ms = max(expires_ms, ?3) \
                       WHERE id = ?1 AND owner = ?2 AND key IS NOT NULL";
            let id = conversation.0.as_bytes();
            let values = params![id, owner.0.as_bytes(), expires.ms()];
            if connection.prepare_cached(sql)?.execute(values)? == 1 {
                add_items(connection, *owner, *conversation, items)?;
            }
        }
        ConversationWrite::DeleteItem { conversation, item } => {
            let sql = format!("{DESTROY_ITEMS} WHERE conversation = ?1 AND item = ?2");
            let values = params![conversation.0.as_bytes(), item];
            connection.prepare_cached(&sql)?.execute(values)?;
        }
        ConversationWrite::Delete { owner, id } => {
            let sql = "UPDATE conversation SET key = NULL, metadata = x'' \
                       WHERE id = ?1 AND owner = ?2";
            let values = params![id.0.as_bytes(), owner.0.as_bytes()];
            if connection.prepare_cached(sql)?.execute(values)? == 1 {
                let sql = format!("{DESTROY_ITEMS} WHERE conversation = ?1");
                connection.prepare_cached(&sql)?.execute([id.0.as_bytes()])?;
            }
        }
        ConversationWrite::DropExpired { now, rows_max } => {
            drop_expired(connection, *now, *rows_max)?;
        }
    }
    Ok(())
}

fn add_conversation(
    connection: &Connection,
    conversation: &ConversationRecord,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO conversation (id, owner, key, metadata, bytes, created_ms, expires_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        conversation.id.0.as_bytes(),
        conversation.owner.0.as_bytes(),
        conversation.key,
        conversation.metadata,
        conversation.bytes,
        conversation.created.ms(),
        conversation.expires.ms(),
    ])?;
    Ok(())
}

fn add_items(
    connection: &Connection,
    owner: OwnerId,
    conversation: ConversationId,
    items: &[NewConversationItem],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO conversation_item \
               (conversation, position, item, owner, key, sealed, bytes) \
               SELECT ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4, ?5, ?6 \
               FROM conversation_item WHERE conversation = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for NewConversationItem { item, key, sealed, bytes } in items {
        let (id, owner) = (conversation.0.as_bytes(), owner.0.as_bytes());
        statement.execute(params![id, item, owner, key, sealed, bytes])?;
    }
    Ok(())
}

/// Rows are deleted after their keys, in another transaction, as with responses. The row of an
/// item that was deleted alone goes with its conversation, so that positions are not used again.
fn drop_expired(connection: &Connection, now: Timestamp, rows_max: usize) -> rusqlite::Result<()> {
    let dropped = "SELECT id FROM conversation WHERE key IS NULL LIMIT ?1";
    let sql = format!("DELETE FROM conversation_item WHERE conversation IN ({dropped})");
    connection.prepare_cached(&sql)?.execute([rows_max])?;
    let sql = format!("DELETE FROM conversation WHERE id IN ({dropped})");
    connection.prepare_cached(&sql)?.execute([rows_max])?;
    let expired = "SELECT id FROM conversation WHERE key IS NOT NULL AND expires_ms <= ?1 \
                   ORDER BY expires_ms LIMIT ?2";
    let sql = format!("{DESTROY_ITEMS} WHERE conversation IN ({expired})");
    connection.prepare_cached(&sql)?.execute(params![now.ms(), rows_max])?;
    let sql = format!("UPDATE conversation SET key = NULL, metadata = x'' WHERE id IN ({expired})");
    connection.prepare_cached(&sql)?.execute(params![now.ms(), rows_max])?;
    Ok(())
}

pub(crate) fn find_conversation(
    connection: &Connection,
    owner: OwnerId,
    id: ConversationId,
) -> rusqlite::Result<Option<ConversationRecord>> {
    let sql = "SELECT id, owner, key, metadata, bytes, created_ms, expires_ms FROM conversation \
               WHERE id = ?1 AND owner = ?2 AND key IS NOT NULL";
    let values = params![id.0.as_bytes(), owner.0.as_bytes()];
    let read = |row: &Row<'_>| {
        Ok(ConversationRecord {
            id: read_id(row, 0).map(ConversationId)?,
            owner: read_id(row, 1).map(OwnerId)?,
            key: row.get(2)?,
            metadata: row.get(3)?,
            bytes: row.get(4)?,
            created: read_time(row, 5)?,
            expires: read_time(row, 6)?,
        })
    };
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}

const ITEM_COLUMNS: &str = "position, item, key, sealed, bytes";

pub(crate) fn list_items(
    connection: &Connection,
    query: ItemQuery,
) -> rusqlite::Result<Vec<ConversationItem>> {
    let order = if query.is_ascending { "ASC" } else { "DESC" };
    let beyond = if query.is_ascending { ">" } else { "<" };
    let sql = format!(
        "SELECT {ITEM_COLUMNS} FROM conversation_item WHERE conversation = ?1 AND key IS NOT NULL \
         AND (?2 IS NULL OR position {beyond} ?2) ORDER BY position {order} LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = query.limit.min(ITEMS_MAX);
    let values = params![query.conversation.0.as_bytes(), query.after, limit];
    statement.query_map(values, item_at)?.collect()
}

pub(crate) fn find_item(
    connection: &Connection,
    conversation: ConversationId,
    item: &str,
) -> rusqlite::Result<Option<ConversationItem>> {
    let sql = format!(
        "SELECT {ITEM_COLUMNS} FROM conversation_item \
         WHERE conversation = ?1 AND item = ?2 AND key IS NOT NULL"
    );
    let values = params![conversation.0.as_bytes(), item];
    connection.prepare_cached(&sql)?.query_row(values, item_at).optional()
}

fn item_at(row: &Row<'_>) -> rusqlite::Result<ConversationItem> {
    let content = NewConversationItem {
        item: row.get(1)?,
        key: row.get(2)?,
        sealed: row.get(3)?,
        bytes: row.get(4)?,
    };
    Ok(ConversationItem { position: row.get(0)?, content })
}
