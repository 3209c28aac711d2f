//! One turn of a stored dialogue: what comes before it, its own input, and what is kept of it.

use std::collections::BTreeMap;

use domain::entropy::time_ordered_id;
use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::{ChargeReceipt, OwnerId};
use moment::Timestamp;
use money::{BalanceCurrency, Nano};
use schema_check::ValidationFaults;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::conversation::{
    ConversationId, ConversationWrite, ITEMS_MAX, ItemQuery, NewConversationItem,
};
use store::model_response::{
    ResponseCost, ResponseId, ResponseRecord, ResponseState, ResponseWrite, SealedResponse,
};
use store::write::StoreWrite;
use uuid::Uuid;
use wire::responses::ResponseRequest;

use super::bounds::{check_notes, refuse_if_full};
use super::items::{self, ItemFields};
use super::seal::ContentKey;
use crate::endpoints::conversations::names::{
    conversation_name, find_conversation, parse_response_id, response_name,
};
use crate::endpoints::responses::unsupported::ENCRYPTED_REASONING;

/// The responses that one may continue, one after the other.
const CHAIN_MAX: usize = 256;
/// Bytes of the items before a turn.
const CONTEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The fields of a request that say what is kept and what it continues.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::endpoints::responses) struct TurnFields {
    pub(in crate::endpoints::responses) store: bool,
    pub(in crate::endpoints::responses) background: bool,
    pub(in crate::endpoints::responses) streams: bool,
    pub(in crate::endpoints::responses) previous: Option<Uuid>,
    pub(in crate::endpoints::responses) conversation: Option<Uuid>,
    instructions: Option<String>,
    metadata: BTreeMap<String, String>,
    /// True if the caller asked for reasoning that it can send back.
    returns_seals: bool,
}

/// The input of a turn as it is stored.
#[derive(Serialize, Deserialize)]
pub(in crate::endpoints::responses) struct StoredInput {
    pub(in crate::endpoints::responses) items: Vec<ItemFields>,
    pub(in crate::endpoints::responses) fields: TurnFields,
    /// Only for a background response.
    pub(in crate::endpoints::responses) run: Option<StoredRun>,
}

/// The facts from which a background response runs.
#[derive(Serialize, Deserialize)]
pub(in crate::endpoints::responses) struct StoredRun {
    /// The caller, as [`StoredCaller`](http_frame::stored_caller::StoredCaller) writes it.
    pub(in crate::endpoints::responses) caller: String,
    pub(in crate::endpoints::responses) headers: Vec<(String, String)>,
    /// The request without its input and without the fields of the turn.
    pub(in crate::endpoints::responses) body: Map<String, Value>,
    /// The response before it has begun.
    pub(in crate::endpoints::responses) draft: Value,
}

/// A turn whose request was checked.
pub(in crate::endpoints::responses) struct DialogueTurn {
    pub(in crate::endpoints::responses) id: ResponseId,
    pub(in crate::endpoints::responses) owner: OwnerId,
    pub(in crate::endpoints::responses) created: Timestamp,
    pub(in crate::endpoints::responses) fields: TurnFields,
    /// The turn's own input.
    pub(in crate::endpoints::responses) items: Vec<ItemFields>,
    /// The request without its input and without the fields of the turn.
    pub(in crate::endpoints::responses) body: Map<String, Value>,
    depth: u64,
}

/// The items before a turn.
#[derive(Default)]
pub(in crate::endpoints::responses) struct TurnContext {
    pub(in crate::endpoints::responses) items: Vec<ItemFields>,
    pub(in crate::endpoints::responses) bytes: usize,
    depth: u64,
}

/// True if a request keeps or continues something.
pub(in crate::endpoints::responses) fn is_turn(body: &Value) -> bool {
    let is_true = |name: &str| body[name] == Value::Bool(true);
    is_true("store")
        || is_true("background")
        || !body["previous_response_id"].is_null()
        || !body["conversation"].is_null()
}

impl DialogueTurn {
    /// Checks the fields of the turn, and finds what comes before it. `body` has passed its schema
    /// as `request`.
    pub(in crate::endpoints::responses) async fn open(
        app: &AppState,
        owner: OwnerId,
        body: Value,
        request: &ResponseRequest,
    ) -> Result<(DialogueTurn, TurnContext), Refusal> {
        let fields = read_fields(request)?;
        refuse_if_full(app, owner).await?;
        let context = TurnContext::load(app, owner, &fields).await?;
        let Value::Object(mut body) = body else {
            return Err(Refusal::internal("a request is no object"));
        };
        let input = body.remove("input").unwrap_or_default();
        for name in
            ["store", "background", "previous_response_id", "conversation", "stream", "metadata"]
        {
            body.remove(name);
        }
        if !fields.returns_seals {
            include_seals(&mut body);
        }
        let created = app.clock.now();
        let turn = DialogueTurn {
            id: ResponseId(time_ordered_id(created, app.entropy.as_ref())),
            owner,
            created,
            fields,
            items: items::normalise_input(input, app.entropy.as_ref()),
            body,
            depth: context.depth,
        };
        Ok((turn, context))
    }

    /// The request with all items, as it is answered.
    pub(in crate::endpoints::responses) fn build_request(
        &self,
        context: TurnContext,
        streams: bool,
    ) -> Value {
        build_request(&self.body, context, &self.items, streams)
    }

    /// The record of this turn, with its key.
    pub(in crate::endpoints::responses) fn build_record(
        &self,
        app: &AppState,
        key: ContentKey,
        state: ResponseState,
        model: String,
    ) -> ResponseRecord {
        let ended = (!state.is_open()).then(|| app.clock.now());
        ResponseRecord {
            id: self.id,
            owner: self.owner,
            state,
            model,
            previous: self.fields.previous.map(ResponseId),
            depth: self.depth,
            conversation: self.fields.conversation.map(ConversationId),
            is_background: self.fields.background,
            is_streamed: self.fields.background && self.fields.streams,
            bytes: 0,
            key: Some(key.0),
            cost: ResponseCost::default(),
            fence: 0,
            lease_until: Timestamp::default(),
            wants_cancel: false,
            events: 0,
            created: self.created,
            started: None,
            ended,
            expires: self.created.plus(app.settings.responses.keep),
        }
    }

    /// The writes that keep a turn that was answered at once.
    pub(in crate::endpoints::responses) fn build_writes(
        self,
        app: &AppState,
        response: &Value,
        receipt: Option<&ChargeReceipt>,
    ) -> Result<Vec<StoreWrite>, Refusal> {
        let entropy = app.entropy.as_ref();
        let mut writes = Vec::new();
        if let Some(write) =
            self.fields.add_to_conversation(app, self.owner, &self.items, response)?
        {
            writes.push(write.into());
        }
        if self.fields.store {
            let key = ContentKey::generate(entropy);
            let model = response["model"].as_str().unwrap_or_default().to_owned();
            let state = read_state(response);
            let record = self.build_record(app, key, state, model);
            let (id, items, fields) = (self.id, self.items, self.fields);
            let input = key.seal(id.0, &StoredInput { items, fields, run: None }, entropy)?;
            let output = key.seal(id.0, response, entropy)?;
            let cost = receipt.map(read_cost).unwrap_or_default();
            let bytes = input.bytes.saturating_add(output.bytes);
            let record = ResponseRecord { bytes, cost, ..record };
            let stored =
                SealedResponse { record, input: input.sealed, output: Some(output.sealed) };
            writes.push(ResponseWrite::Add(stored).into());
        }
        Ok(writes)
    }
}

/// The request of a turn with all items.
pub(in crate::endpoints::responses) fn build_request(
    body: &Map<String, Value>,
    context: TurnContext,
    own: &[ItemFields],
    streams: bool,
) -> Value {
    let mut body = body.clone();
    let items = context.items.into_iter().chain(own.iter().cloned()).map(Value::Object);
    body.insert("input".to_owned(), items.collect());
    body.insert("store".to_owned(), false.into());
    body.insert("stream".to_owned(), streams.into());
    Value::Object(body)
}

impl TurnFields {
    /// Gives a response the id and the fields of its turn. Takes the reasoning that can be sent back
    /// out of what is returned, if the caller did not ask for it.
    pub(in crate::endpoints::responses) fn dress_response(
        &self,
        id: ResponseId,
        response: &mut Value,
    ) {
        let Some(fields) = response.as_object_mut() else { return };
        let previous = self.previous.map(|id| response_name(ResponseId(id)));
        let conversation = self.conversation.map(|id| conversation_name(ConversationId(id)));
        fields.insert("id".to_owned(), response_name(id).into());
        fields.insert("store".to_owned(), self.store.into());
        fields.insert("background".to_owned(), self.background.into());
        fields.insert("previous_response_id".to_owned(), previous.into());
        let conversation = conversation.map_or(Value::Null, |id| json!({ "id": id }));
        fields.insert("conversation".to_owned(), conversation);
        fields.insert("instructions".to_owned(), self.instructions.clone().into());
        fields.insert("metadata".to_owned(), json!(self.metadata));
    }

    /// Removes what the caller did not ask for from an item that is returned.
    pub(in crate::endpoints::responses) fn trim_item(&self, item: &mut Value) {
        if self.returns_seals || item["type"] != "reasoning" {
            return;
        }
        if let Some(fields) = item.as_object_mut() {
            fields.remove("encrypted_content");
        }
    }

    /// The same for a whole response.
    pub(in crate::endpoints::responses) fn trim_response(&self, response: &mut Value) {
        let output = response.get_mut("output").and_then(Value::as_array_mut);
        output.into_iter().flatten().for_each(|item| self.trim_item(item));
    }

    /// The write that adds a turn to its conversation.
    pub(in crate::endpoints::responses) fn add_to_conversation(
        &self,
        app: &AppState,
        owner: OwnerId,
        own: &[ItemFields],
        response: &Value,
    ) -> Result<Option<ConversationWrite>, Refusal> {
        let Some(conversation) = self.conversation.map(ConversationId) else { return Ok(None) };
        let output = response["output"].as_array().into_iter().flatten();
        let output = output.filter_map(|item| item.as_object().cloned());
        let items: Vec<ItemFields> = own.iter().cloned().chain(output).collect();
        add_items(app, owner, conversation, &items).map(Some)
    }
}

/// The write that adds items to a conversation, each sealed with a key of its own.
pub(in crate::endpoints) fn add_items(
    app: &AppState,
    owner: OwnerId,
    conversation: ConversationId,
    items: &[ItemFields],
) -> Result<ConversationWrite, Refusal> {
    let entropy = app.entropy.as_ref();
    let seal_item = |item: &ItemFields| {
        let key = ContentKey::generate(entropy);
        let content = key.seal(conversation.0, item, entropy)?;
        Ok(NewConversationItem {
            item: items::item_id(item).to_owned(),
            key: key.0,
            sealed: content.sealed,
            bytes: content.bytes,
        })
    };
    let items: Result<Vec<_>, Refusal> = items.iter().map(seal_item).collect();
    let expires = app.clock.now().plus(app.settings.responses.keep);
    Ok(ConversationWrite::AddItems { owner, conversation, items: items?, expires })
}

impl TurnContext {
    /// Reads the items before a turn.
    pub(in crate::endpoints::responses) async fn load(
        app: &AppState,
        owner: OwnerId,
        fields: &TurnFields,
    ) -> Result<TurnContext, Refusal> {
        if let Some(id) = fields.conversation {
            return TurnContext::load_conversation(app, owner, ConversationId(id)).await;
        }
        match fields.previous {
            Some(id) => TurnContext::load_chain(app, owner, ResponseId(id)).await,
            None => Ok(TurnContext::default()),
        }
    }

    async fn load_chain(
        app: &AppState,
        owner: OwnerId,
        id: ResponseId,
    ) -> Result<TurnContext, Refusal> {
        let chain = app.store.response_chain(owner, id, CHAIN_MAX).await;
        let chain = chain.map_err(Refusal::unavailable)?;
        let now = app.clock.now();
        let newest = chain.first().filter(|it| now < it.record.expires);
        let Some(SealedResponse { record, .. }) = newest else {
            return Err(refuse_unknown_previous(id));
        };
        check_continuable(record)?;
        let depth = record.depth + 1;
        if CHAIN_MAX as u64 <= depth {
            return Err(Refusal::bad_request(
                "Too many responses",
                format!(
                    "A response may have at most {CHAIN_MAX} responses before it. Send the \
                     conversation as `input`, or use `conversation`."
                ),
            ));
        }
        if (chain.len() as u64) < depth {
            return Err(Refusal::not_found(
                "Response not found",
                "A response before this one was deleted or has expired. Send the conversation as \
                 `input`.",
            ));
        }
        let mut context = TurnContext { depth, ..TurnContext::default() };
        for sealed in chain.into_iter().rev() {
            let SealedResponse { record, input, output } = sealed;
            let key = ContentKey(record.key.ok_or_else(|| refuse_unknown_previous(id))?);
            context.count_bytes(input.len() + output.as_ref().map_or(0, Vec::len))?;
            let input: StoredInput = key.open(record.id.0, &input)?;
            context.items.extend(input.items);
            if let Some(output) = output {
                let response: Value = key.open(record.id.0, &output)?;
                let output = response["output"].as_array().into_iter().flatten();
                context.items.extend(output.filter_map(|item| item.as_object().cloned()));
            }
        }
        Ok(context)
    }

    async fn load_conversation(
        app: &AppState,
        owner: OwnerId,
        id: ConversationId,
    ) -> Result<TurnContext, Refusal> {
        find_conversation(app, owner, id).await?;
        let mut context = TurnContext::default();
        let query =
            ItemQuery { conversation: id, after: None, is_ascending: true, limit: ITEMS_MAX };
        let found = app.store.conversation_items(query).await.map_err(Refusal::unavailable)?;
        if ITEMS_MAX <= found.len() {
            return Err(Refusal::bad_request(
                "Too many items",
                format!("A conversation of {ITEMS_MAX} items cannot be continued; start another."),
            ));
        }
        for item in found {
            context.count_bytes(item.content.sealed.len())?;
            context.items.push(ContentKey(item.content.key).open(id.0, &item.content.sealed)?);
        }
        Ok(context)
    }

    fn count_bytes(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= CONTEXT_BYTES_MAX {
            return Ok(());
        }
        Err(Refusal::bad_request(
            "Conversation too large",
            format!("What comes before this response is larger than {CONTEXT_BYTES_MAX} bytes."),
        ))
    }
}

fn read_fields(request: &ResponseRequest) -> Result<TurnFields, Refusal> {
    let mut faults = ValidationFaults::default();
    let background = request.background == Some(true);
    if background && request.store == Some(false) {
        faults.at(["store"]).push("A background response is stored; leave out `store: false`");
    }
    if request.previous_response_id.is_some() && request.conversation.is_some() {
        faults.at(["conversation"]).push("Send either this or `previous_response_id`");
    }
    let metadata = request.metadata.clone().unwrap_or_default();
    check_notes(&metadata, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let previous = request.previous_response_id.as_deref();
    let previous = previous.map(|name| parse_response_id(name).map(|id| id.0)).transpose()?;
    let conversation = request.conversation.as_ref().map(|it| it.id());
    let conversation = conversation
        .map(|name| {
            crate::endpoints::conversations::names::parse_conversation_id(name).map(|id| id.0)
        })
        .transpose()?;
    let includes = request.include.iter().flatten().any(|name| name == ENCRYPTED_REASONING);
    Ok(TurnFields {
        store: background || request.store == Some(true),
        background,
        streams: request.stream == Some(true),
        previous,
        conversation,
        instructions: request.instructions.clone(),
        metadata,
        returns_seals: includes,
    })
}

fn check_continuable(record: &ResponseRecord) -> Result<(), Refusal> {
    let message = match record.state {
        ResponseState::Completed | ResponseState::Incomplete if record.conversation.is_some() => {
            "That response belongs to a conversation; continue it with `conversation`."
        }
        ResponseState::Completed | ResponseState::Incomplete => return Ok(()),
        ResponseState::Queued | ResponseState::InProgress => {
            "That response has not ended; wait for it before it is continued."
        }
        ResponseState::Failed | ResponseState::Cancelled => {
            "That response failed or was cancelled; there is nothing to continue."
        }
    };
    Err(Refusal::bad_request("Response cannot be continued", message))
}

fn refuse_unknown_previous(id: ResponseId) -> Refusal {
    crate::endpoints::conversations::names::refuse_unknown_response(&response_name(id))
}

/// Asks for reasoning that can be sent back, so that a later turn goes on from it.
fn include_seals(body: &mut Map<String, Value>) {
    let mut include = match body.remove("include") {
        Some(Value::Array(names)) => names,
        _ => Vec::new(),
    };
    include.push(ENCRYPTED_REASONING.into());
    body.insert("include".to_owned(), include.into());
}

/// The state of a response that has ended.
pub(in crate::endpoints::responses) fn read_state(response: &Value) -> ResponseState {
    match response["status"].as_str() {
        Some("completed") => ResponseState::Completed,
        Some("incomplete") => ResponseState::Incomplete,
        Some("cancelled") => ResponseState::Cancelled,
        _ => ResponseState::Failed,
    }
}

/// The amounts that were charged: DIEM, and all other currencies as dollars.
pub(in crate::endpoints::responses) fn read_cost(receipt: &ChargeReceipt) -> ResponseCost {
    let others = [BalanceCurrency::Usd, BalanceCurrency::Bundled, BalanceCurrency::Vcu];
    let usd = others.into_iter().fold(Nano::ZERO, |sum, it| sum.saturating_add(receipt.paid(it)));
    ResponseCost { usd, diem: receipt.paid(BalanceCurrency::Diem) }
}
