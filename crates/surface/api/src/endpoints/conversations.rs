//! `/conversations`: items that are kept here and sent to the model with each response.

pub(in crate::endpoints) mod item_list;
pub(in crate::endpoints) mod names;

use std::collections::BTreeMap;

use bytes::Bytes;
use domain::entropy::time_ordered_id;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::JobCollector;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{JsonBody, JsonWithBytes, PathParameters};
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schema_check::ValidationFaults;
use serde_json::Value;
use store::conversation::{ConversationId, ConversationRecord, ConversationWrite};
use store::error::StoreError;
use store::write::{StoreWrite, WriteGroup};
use wire::conversations::{
    Conversation, ConversationChange, ConversationDeleted, ConversationPath, NewConversation,
};

use self::names::{conversation_name, find_conversation, parse_conversation_id};
use crate::endpoints::responses::stored::bounds::{check_notes, refuse_if_full};
use crate::endpoints::responses::stored::items::{ItemFields, normalise_input};
use crate::endpoints::responses::stored::seal::ContentKey;
use crate::endpoints::responses::stored::turn::add_items;

const ALL: &str = "/conversations";
const ONE: &str = "/conversations/{conversation_id}";

macro_rules! endpoint {
    ($name:ident, $draft:expr, $summary:literal) => {
        pub(in crate::endpoints) fn $name() -> ApiEndpoint {
            $draft
                .tag("Conversations")
                .summary($summary)
                .refuses(404, "There is no such conversation")
                .build()
        }
    };
}

endpoint!(
    create_endpoint,
    EndpointBuilder::post(ALL, create_conversation),
    "Create a conversation"
);
endpoint!(get_endpoint, EndpointBuilder::get(ONE, get_conversation), "Get a conversation");
endpoint!(
    change_endpoint,
    EndpointBuilder::post(ONE, update_conversation),
    "Replace the notes of a conversation"
);
endpoint!(
    delete_endpoint,
    EndpointBuilder::delete(ONE, delete_conversation),
    "Delete a conversation and its items"
);

async fn create_conversation(
    app: SharedApp,
    call: ApiCall<JobCollector, JsonWithBytes<NewConversation>>,
) -> Result<WithHeaders<Conversation>, Refusal> {
    let JobCollector(holder) = call.caller;
    let JsonWithBytes { body, bytes } = call.input;
    let metadata = body.metadata.unwrap_or_default();
    refuse_wrong_notes(&metadata)?;
    refuse_if_full(&app, holder.owner.id).await?;
    let (owner, entropy) = (holder.owner.id, app.entropy.as_ref());
    let items = read_items(&bytes, &app)?;
    let id = ConversationId(time_ordered_id(call.now, entropy));
    let key = ContentKey::generate(entropy);
    let content = key.seal(id.0, &metadata, entropy)?;
    let record = ConversationRecord {
        id,
        owner,
        key: key.0,
        metadata: content.sealed,
        bytes: content.bytes,
        created: call.now,
        expires: call.now.plus(app.settings.responses.keep),
    };
    let mut writes: Vec<StoreWrite> = vec![ConversationWrite::Add(record.clone()).into()];
    if !items.is_empty() {
        writes.push(add_items(&app, owner, id, &items)?.into());
    }
    app.store.commit(WriteGroup { writes }).await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(show_conversation(&record, metadata)))
}

async fn get_conversation(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ConversationPath>>,
) -> Result<WithHeaders<Conversation>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let id = parse_conversation_id(&path.conversation_id)?;
    let record = find_conversation(&app, holder.owner.id, id).await?;
    let metadata = ContentKey(record.key).open(id.0, &record.metadata)?;
    Ok(WithHeaders::new(show_conversation(&record, metadata)))
}

async fn update_conversation(
    app: SharedApp,
    call: ApiCall<JobCollector, (PathParameters<ConversationPath>, JsonBody<ConversationChange>)>,
) -> Result<WithHeaders<Conversation>, Refusal> {
    let (PathParameters(path), JsonBody(change)) = call.input;
    let JobCollector(holder) = call.caller;
    refuse_wrong_notes(&change.metadata)?;
    let (owner, id) = (holder.owner.id, parse_conversation_id(&path.conversation_id)?);
    let record = find_conversation(&app, owner, id).await?;
    let content = ContentKey(record.key).seal(id.0, &change.metadata, app.entropy.as_ref())?;
    let (metadata, bytes) = (content.sealed, content.bytes);
    let write = ConversationWrite::SetMetadata { owner, id, metadata, bytes };
    match app.store.commit(WriteGroup::from_write(write.into())).await {
        Ok(()) => Ok(WithHeaders::new(show_conversation(&record, change.metadata))),
        Err(StoreError::Missing(_)) => {
            Err(names::refuse_unknown_conversation(&path.conversation_id))
        }
        Err(error) => Err(Refusal::unavailable(error)),
    }
}

async fn delete_conversation(
    app: SharedApp,
    call: ApiCall<JobCollector, PathParameters<ConversationPath>>,
) -> Result<WithHeaders<ConversationDeleted>, Refusal> {
    let (JobCollector(holder), PathParameters(path)) = (call.caller, call.input);
    let (owner, id) = (holder.owner.id, parse_conversation_id(&path.conversation_id)?);
    find_conversation(&app, owner, id).await?;
    let write = ConversationWrite::Delete { owner, id };
    let deleted = app.store.commit(WriteGroup::from_write(write.into())).await;
    deleted.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(ConversationDeleted {
        id: conversation_name(id),
        object: "conversation.deleted",
        deleted: true,
    }))
}

fn show_conversation(
    record: &ConversationRecord,
    metadata: BTreeMap<String, String>,
) -> Conversation {
    Conversation {
        id: conversation_name(record.id),
        object: "conversation",
        created_at: record.created.seconds(),
        metadata,
    }
}

/// The items of a body whose schema was checked, as they are stored.
fn read_items(bytes: &Bytes, app: &SharedApp) -> Result<Vec<ItemFields>, Refusal> {
    let mut body: Value = serde_json::from_slice(bytes).map_err(|_| Refusal::not_json())?;
    Ok(normalise_input(body["items"].take(), app.entropy.as_ref()))
}

fn refuse_wrong_notes(metadata: &BTreeMap<String, String>) -> Result<(), Refusal> {
    let mut faults = ValidationFaults::default();
    check_notes(metadata, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))
}
