//! Statements for conversations.

use ledger_core::OwnerId;
use store::conversation::{ConversationId, ConversationWrite, NewConversationItem};
use store::error::StoreError;

use crate::columns::{to_row_limit, to_signed, to_sql_text};
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO conversation (id, owner, key, metadata, bytes, created_ms, \
    expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)";

const SET_METADATA: &str = "UPDATE conversation SET metadata = $3, bytes = $4 \
    WHERE id = $1 AND owner = $2 AND key IS NOT NULL";

const KEEP: &str = "UPDATE conversation SET expires_ms = greatest(expires_ms, $3) \
    WHERE id = $1 AND owner = $2 AND key IS NOT NULL";

/// The conversation's row is locked by `KEEP` before, so that no two writers give the same position.
const ADD_ITEM: &str = "INSERT INTO conversation_item \
    (conversation, position, item, owner, key, sealed, bytes) \
    SELECT id, coalesce((SELECT max(position) + 1 FROM conversation_item \
    WHERE conversation = $1), 0), $2::text, owner, $4::bytea, $5::bytea, $6::bigint \
    FROM conversation WHERE id = $1 AND owner = $3 AND key IS NOT NULL ON CONFLICT DO NOTHING";

const DELETE_ITEM: &str = "UPDATE conversation_item SET key = NULL, sealed = '' \
    WHERE conversation = $1 AND item = $2";

const DELETE_ITEMS: &str = "UPDATE conversation_item SET key = NULL, sealed = '' \
    WHERE conversation = (SELECT id FROM conversation WHERE id = $1 AND owner = $2)";

const DELETE: &str =
    "UPDATE conversation SET key = NULL, metadata = '' WHERE id = $1 AND owner = $2";

const DROP_ITEMS: &str = "DELETE FROM conversation_item WHERE conversation IN \
    (SELECT id FROM conversation WHERE key IS NULL ORDER BY id LIMIT $1)";

const DROP_ROWS: &str = "DELETE FROM conversation WHERE id IN \
    (SELECT id FROM conversation WHERE key IS NULL ORDER BY id LIMIT $1)";

const DESTROY_EXPIRED_ITEMS: &str = "UPDATE conversation_item SET key = NULL, sealed = '' \
    WHERE conversation IN (SELECT id FROM conversation WHERE key IS NOT NULL \
    AND expires_ms <= $1 ORDER BY expires_ms, id LIMIT $2)";

const DESTROY_EXPIRED: &str = "UPDATE conversation SET key = NULL, metadata = '' WHERE id IN \
    (SELECT id FROM conversation WHERE key IS NOT NULL \
    AND expires_ms <= $1 ORDER BY expires_ms, id LIMIT $2)";

pub(crate) fn post_conversation<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a ConversationWrite,
) -> Result<(), StoreError> {
    match write {
        ConversationWrite::Add(conversation) => {
            let values = values![
                conversation.id.0,
                conversation.owner.0,
                conversation.key.as_slice(),
                conversation.metadata.as_slice(),
                to_signed(conversation.bytes)?,
                conversation.created.ms(),
                conversation.expires.ms(),
            ];
            statements.add(ADD, values);
        }
        ConversationWrite::SetMetadata { owner, id, metadata, bytes } => {
            let values = values![id.0, owner.0, metadata.as_slice(), to_signed(*bytes)?];
            let missing = StoreError::Missing("no such conversation");
            statements.add_one(SET_METADATA, values, missing);
        }
        ConversationWrite::AddItems { owner, conversation, items, expires } => {
            statements.add(KEEP, values![conversation.0, owner.0, expires.ms()]);
            return add_items(statements, *owner, *conversation, items);
        }
        ConversationWrite::DeleteItem { conversation, item } => {
            statements.add(DELETE_ITEM, values![conversation.0, to_sql_text(item)]);
        }
        ConversationWrite::Delete { owner, id } => {
            statements.add(DELETE_ITEMS, values![id.0, owner.0]);
            statements.add(DELETE, values![id.0, owner.0]);
        }
        ConversationWrite::DropExpired { now, rows_max } => {
            let limit = to_row_limit(*rows_max);
            statements.add(DROP_ITEMS, values![limit]);
            statements.add(DROP_ROWS, values![limit]);
            statements.add(DESTROY_EXPIRED_ITEMS, values![now.ms(), limit]);
            statements.add(DESTROY_EXPIRED, values![now.ms(), limit]);
        }
    }
    Ok(())
}

fn add_items<'a>(
    statements: &mut SqlStatements<'a>,
    owner: OwnerId,
    conversation: ConversationId,
    items: &'a [NewConversationItem],
) -> Result<(), StoreError> {
    for NewConversationItem { item, key, sealed, bytes } in items {
        let values = values![
            conversation.0,
            to_sql_text(item),
            owner.0,
            key.as_slice(),
            sealed.as_slice(),
            to_signed(*bytes)?,
        ];
        statements.add(ADD_ITEM, values);
    }
    Ok(())
}
