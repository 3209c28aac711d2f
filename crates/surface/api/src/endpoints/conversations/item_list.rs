//! The items of a conversation: listed, added, read and deleted.

use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{JsonWithBytes, PathParameters, QueryParameters};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use store::conversation::{ConversationId, ConversationItem, ConversationWrite, ItemQuery};
use store::write::WriteGroup;
use wire::conversations::{
    Conversation, ConversationItemPath, ConversationPath, ItemListQuery, NewConversationItems,
    StoredItem, StoredItemList,
};

use super::names::{find_conversation, parse_conversation_id};
use super::{read_items, show_conversation};
use crate::endpoints::responses::stored::bounds::refuse_if_full;
use crate::endpoints::responses::stored::items::{ItemFields, build_list, is_ascending, page_size};
use crate::endpoints::responses::stored::seal::ContentKey;
use crate::endpoints::responses::stored::turn::add_items;

const ALL: &str = "/conversations/{conversation_id}/items";
const ONE: &str = "/conversations/{conversation_id}/items/{item_id}";

macro_rules! endpoint {
    ($name:ident, $draft:expr, $summary:literal) => {
        pub(in crate::endpoints) fn $name() -> ApiEndpoint {
            $draft
                .tag("Conversations")
                .summary($summary)
                .refuses(404, "There is no such conversation or item")
                .build()
        }
    };
}

endpoint!(
    list_endpoint,
    EndpointBuilder::get(ALL, list_conversation_items),
    "List the items of a conversation"
);
endpoint!(
    add_endpoint,
    EndpointBuilder::post(ALL, add_conversation_items),
    "Add items to a conversation"
);
endpoint!(
    get_endpoint,
    EndpointBuilder::get(ONE, get_conversation_item),
    "Get an item of a conversation"
);
endpoint!(
    delete_endpoint,
    EndpointBuilder::delete(ONE, delete_conversation_item),
    "Delete an item of a conversation"
);

async fn list_conversation_items(
    app: SharedApp,
    call: ApiCall<JobCollector, (PathParameters<ConversationPath>, QueryParameters<ItemListQuery>)>,
) -> Result<WithHeaders<StoredItemList>, Refusal> {
    let (PathParameters(path), QueryParameters(query)) = call.input;
    let JobCollector(holder) = call.caller;
    let conversation = parse_conversation_id(&path.conversation_id)?;
    find_conversation(&app, holder.owner.id, conversation).await?;
    let after = match &query.after {
        Some(item) => Some(find_item(&app, conversation, item).await?.position),
        None => None,
    };
    let limit = page_size(&query);
    let asked =
        ItemQuery { conversation, after, is_ascending: is_ascending(&query), limit: limit + 1 };
    let found = app.store.conversation_items(asked).await.map_err(Refusal::unavailable)?;
    let items: Result<Vec<_>, Refusal> =
        found.iter().map(|item| open_item(conversation, item)).collect();
    Ok(WithHeaders::new(build_list(items?, limit)))
}

async fn add_conversation_items(
    app: SharedApp,
    call: ApiCall<
        JobCollector,
        (PathParameters<ConversationPath>, JsonWithBytes<NewConversationItems>),
    >,
) -> Result<WithHeaders<StoredItemList>, Refusal> {
    let (PathParameters(path), JsonWithBytes { bytes, .. }) = call.input;
    let JobCollector(holder) = call.caller;
    let (owner, conversation) = (holder.owner.id, parse_conversation_id(&path.conversation_id)?);
    find_conversation(&app, owner, conversation).await?;
    refuse_if_full(&app, owner).await?;
    let items = read_items(&bytes, &app)?;
    let write = add_items(&app, owner, conversation, &items)?;
    let added = app.store.commit(WriteGroup::from_write(write.into())).await;
    added.map_err(Refusal::unavailable)?;
    let limit = items.len();
    Ok(WithHeaders::new(build_list(items, limit)))
}

async fn get_conversation_item(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ConversationItemPath>>,
) -> Result<WithHeaders<StoredItem>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let (conversation, item) = find_in_path(&app, holder.owner.id, &path).await?;
    Ok(WithHeaders::new(StoredItem(open_item(conversation, &item)?)))
}

async fn delete_conversation_item(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ConversationItemPath>>,
) -> Result<WithHeaders<Conversation>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let owner = holder.owner.id;
    let (conversation, item) = find_in_path(&app, owner, &path).await?;
    let write = ConversationWrite::DeleteItem { conversation, item: item.content.item };
    let deleted = app.store.commit(WriteGroup::from_write(write.into())).await;
    deleted.map_err(Refusal::unavailable)?;
    let record = find_conversation(&app, owner, conversation).await?;
    let metadata = ContentKey(record.key).open(conversation.0, &record.metadata)?;
    Ok(WithHeaders::new(show_conversation(&record, metadata)))
}

async fn find_in_path(
    app: &AppState,
    owner: OwnerId,
    path: &ConversationItemPath,
) -> Result<(ConversationId, ConversationItem), Refusal> {
    let conversation = parse_conversation_id(&path.conversation_id)?;
    find_conversation(app, owner, conversation).await?;
    Ok((conversation, find_item(app, conversation, &path.item_id).await?))
}

async fn find_item(
    app: &AppState,
    conversation: ConversationId,
    item: &str,
) -> Result<ConversationItem, Refusal> {
    let found = app.store.conversation_item(conversation, item).await;
    found.map_err(Refusal::unavailable)?.ok_or_else(|| {
        let name: String = item.chars().take(80).collect();
        Refusal::not_found("Item not found", format!("Item with id '{name}' not found."))
    })
}

fn open_item(conversation: ConversationId, item: &ConversationItem) -> Result<ItemFields, Refusal> {
    ContentKey(item.content.key).open(conversation.0, &item.content.sealed)
}
