//! Conversations and their items.

use ledger_core::OwnerId;

use crate::conversation::{
    ConversationId, ConversationItem, ConversationRecord, ConversationWrite, NewConversationItem,
};
use crate::error::StoreError;
use crate::sql::connection::RowResult;
use crate::sql::text::{EMPTY_BYTES, shared_sql};
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlRow, SqlText, to_signed};

pub(crate) const FIND: SqlText = shared_sql!(
    "SELECT id, owner, key, metadata, bytes, created_ms, expires_ms FROM conversation \
     WHERE id = $1 AND owner = $2 AND key IS NOT NULL"
);

const ITEM_COLUMNS: SqlText = SqlText::same("position, item, key, sealed, bytes");

/// Items of a conversation in an order, after one of them.
macro_rules! list_items {
    ($beyond:literal, $order:literal) => {
        shared_sql!(
            "SELECT ",
            ITEM_COLUMNS,
            " FROM conversation_item WHERE conversation = $1 AND key IS NOT NULL \
             AND ($2::bigint IS NULL OR position ",
            $beyond,
            " $2) ORDER BY position ",
            $order,
            " LIMIT $3"
        )
    };
}

pub(crate) const LIST_OLDEST_FIRST: SqlText = list_items!(">", "ASC");
pub(crate) const LIST_NEWEST_FIRST: SqlText = list_items!("<", "DESC");

pub(crate) const FIND_ITEM: SqlText = shared_sql!(
    "SELECT ",
    ITEM_COLUMNS,
    " FROM conversation_item WHERE conversation = $1 AND item = $2 AND key IS NOT NULL"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO conversation (id, owner, key, metadata, bytes, created_ms, expires_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)"
);

const SET_METADATA: SqlText = shared_sql!(
    "UPDATE conversation SET metadata = $3, bytes = $4 \
     WHERE id = $1 AND owner = $2 AND key IS NOT NULL"
);

const KEEP: SqlText = shared_sql!(
    "UPDATE conversation SET expires_ms = greatest(expires_ms, $3) \
     WHERE id = $1 AND owner = $2 AND key IS NOT NULL"
);

/// `KEEP` has locked the conversation's row, so that no two writers give the same position.
const ADD_ITEM: SqlText = shared_sql!(
    "INSERT INTO conversation_item (conversation, position, item, owner, key, sealed, bytes) \
     SELECT id, coalesce((SELECT max(position) + 1 FROM conversation_item \
     WHERE conversation = $1), 0), $2::text, owner, $4::bytea, $5::bytea, $6::bigint \
     FROM conversation WHERE id = $1 AND owner = $3 AND key IS NOT NULL ON CONFLICT DO NOTHING"
);

const DELETE_ITEM: SqlText = shared_sql!(
    "UPDATE conversation_item SET key = NULL, sealed = ",
    EMPTY_BYTES,
    " WHERE conversation = $1 AND item = $2"
);

const DELETE_ITEMS: SqlText = shared_sql!(
    "UPDATE conversation_item SET key = NULL, sealed = ",
    EMPTY_BYTES,
    " WHERE conversation = (SELECT id FROM conversation WHERE id = $1 AND owner = $2)"
);

const DELETE: SqlText = shared_sql!(
    "UPDATE conversation SET key = NULL, metadata = ",
    EMPTY_BYTES,
    " WHERE id = $1 AND owner = $2"
);

const DROP_ITEMS: SqlText = shared_sql!(
    "DELETE FROM conversation_item WHERE conversation IN \
     (SELECT id FROM conversation WHERE key IS NULL ORDER BY id LIMIT $1)"
);

const DROP_ROWS: SqlText = shared_sql!(
    "DELETE FROM conversation WHERE id IN \
     (SELECT id FROM conversation WHERE key IS NULL ORDER BY id LIMIT $1)"
);

const DESTROY_EXPIRED_ITEMS: SqlText = shared_sql!(
    "UPDATE conversation_item SET key = NULL, sealed = ",
    EMPTY_BYTES,
    " WHERE conversation IN (SELECT id FROM conversation WHERE key IS NOT NULL \
     AND expires_ms <= $1 ORDER BY expires_ms, id LIMIT $2)"
);

const DESTROY_EXPIRED: SqlText = shared_sql!(
    "UPDATE conversation SET key = NULL, metadata = ",
    EMPTY_BYTES,
    " WHERE id IN (SELECT id FROM conversation WHERE key IS NOT NULL \
     AND expires_ms <= $1 ORDER BY expires_ms, id LIMIT $2)"
);

pub(crate) fn post_conversation<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a ConversationWrite,
) -> Result<(), P::Error> {
    match write {
        ConversationWrite::Add(conversation) => {
            let values = sql_values![
                conversation.id,
                conversation.owner,
                &conversation.key,
                &conversation.metadata,
                to_signed(conversation.bytes)?,
                conversation.created,
                conversation.expires,
            ];
            posting.run(ADD, values)
        }
        ConversationWrite::SetMetadata { owner, id, metadata, bytes } => {
            let values = sql_values![*id, *owner, metadata, to_signed(*bytes)?];
            let missing = StoreError::Missing("no such conversation");
            posting.run_one(SET_METADATA, values, missing)
        }
        ConversationWrite::AddItems { owner, conversation, items, expires } => {
            posting.run(KEEP, sql_values![*conversation, *owner, *expires])?;
            add_items(posting, *owner, *conversation, items)
        }
        ConversationWrite::DeleteItem { conversation, item } => {
            posting.run(DELETE_ITEM, sql_values![*conversation, item])
        }
        ConversationWrite::Delete { owner, id } => {
            posting.run(DELETE_ITEMS, sql_values![*id, *owner])?;
            posting.run(DELETE, sql_values![*id, *owner])
        }
        // Rows are deleted after their keys, in another transaction, as with responses. The row of
        // an item that was deleted alone goes with its conversation, so that positions are not used
        // again.
        ConversationWrite::DropExpired { now, rows_max } => {
            posting.run(DROP_ITEMS, sql_values![*rows_max])?;
            posting.run(DROP_ROWS, sql_values![*rows_max])?;
            posting.run(DESTROY_EXPIRED_ITEMS, sql_values![*now, *rows_max])?;
            posting.run(DESTROY_EXPIRED, sql_values![*now, *rows_max])
        }
    }
}

fn add_items<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    owner: OwnerId,
    conversation: ConversationId,
    items: &'a [NewConversationItem],
) -> Result<(), P::Error> {
    for NewConversationItem { item, key, sealed, bytes } in items {
        let values = sql_values![conversation, item, owner, key, sealed, to_signed(*bytes)?];
        posting.run(ADD_ITEM, values)?;
    }
    Ok(())
}

pub(crate) fn conversation_at(row: &dyn SqlRow) -> RowResult<ConversationRecord> {
    Ok(ConversationRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        key: row.get(2)?,
        metadata: row.get(3)?,
        bytes: row.get(4)?,
        created: row.get(5)?,
        expires: row.get(6)?,
    })
}

pub(crate) fn item_at(row: &dyn SqlRow) -> RowResult<ConversationItem> {
    let content = NewConversationItem {
        item: row.get(1)?,
        key: row.get(2)?,
        sealed: row.get(3)?,
        bytes: row.get(4)?,
    };
    Ok(ConversationItem { position: row.get(0)?, content })
}
