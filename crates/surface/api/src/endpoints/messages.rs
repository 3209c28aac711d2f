//! `POST /messages`: Anthropic's Messages API.
//!
//! A provider that speaks the same protocol gets the caller's own request, and the caller its own
//! events. For all other models the request is translated into a chat.

mod blocks;
mod body;
mod capability_checks;
pub(super) mod count_tokens;
mod fields;
mod long_context;
mod mcp;
mod mcp_answer;
mod media;
mod native_body;
mod native_events;
mod provider_charges;
mod reply;
mod request;
mod sse_encoder;
mod thinking_seal;
mod tool_changes;
mod tools;
mod turns;
mod web;

use std::sync::Arc;

use bytes::Bytes;
use domain::catalogue::{CatalogueModel, ModelTier, TextCapability, TextSpec};
use domain::limits::tiers::LimitClass;
use engine::{ChatRequest, NativeHeader, NativeProtocol, NativeRequest};
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, WholeOrStream};
use http_frame::model_headers;
use http_frame::paid_chat::{AnswerStart, ChatOrder, HoldPolicy, PaidAnswer, PaidChat, RouteNotes};
use http_frame::paid_work::PaidCall;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schema_check::ValidationFaults;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::messages::{MessageReply, MessagesRequest};

use self::blocks::BlockPolicy;
use self::body::MessagesBody;
use self::mcp::{McpNames, MessagesMcp};
use self::mcp_answer::GatheredMessage;
use self::native_body::NativeBody;
use self::provider_charges::ProviderCharges;
use self::reply::{MadeSearch, MessageHead};
use self::request::TranslatedMessages;
use self::sse_encoder::MessageSseEncoder;
use self::thinking_seal::ThinkingSeal;
use self::tools::RunnableTools;
use self::web::MessagesSearch;
use crate::endpoints::document::{self, RequestDocuments};
use crate::endpoints::mcp_tools::runner::McpRunner;
use crate::endpoints::model_candidates::ModelCandidates;
use crate::endpoints::web_context::{self, WebContext};

pub(super) use self::capability_checks::answer_tokens_max;

const REPEATED: &str = "A member of the body is repeated";

/// A message of ours, or a provider's own with our id of the model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum MessageAnswer {
    Translated(MessageReply),
    Native(Map<String, Value>),
}

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/messages", create_message)
        .tag("Chat")
        .summary("Answer a conversation in the form of Anthropic's Messages API")
        .paid()
        .usual_class(LimitClass::Text(ModelTier::L))
        .build()
}

async fn create_message(
    app: SharedApp,
    call: ApiCall<PayingCaller, MessagesBody<MessagesRequest>>,
) -> Result<WholeOrStream<MessageAnswer>, Refusal> {
    let (call, MessagesBody { mut request, bytes, headers }) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let candidates =
        ModelCandidates::resolve(&call, &catalogue, &request.model, std::iter::empty())?;
    let model = candidates.first.model;
    let charges = ProviderCharges::from_body(&bytes).ok_or_else(refuse_repeated_member)?;
    let mut mcp_faults = ValidationFaults::default();
    let mcp = MessagesMcp::take(&mut request, &call, &mut mcp_faults);
    // Servers are called by us, and never by a provider that holds the operator's account.
    let is_own = !charges.is_empty() || mcp.is_some();
    let policy = if is_own { BlockPolicy::Strict } else { choose_policy(&app, model)? };
    let seal = ThinkingSeal::new(&app.sessions, &model.id, call.holder.owner.id);
    let streams = request.stream == Some(true);
    let search = MessagesSearch::from_request(&request).filter(|_| policy == BlockPolicy::Strict);
    let runnable = RunnableTools { mcp: mcp.is_some(), ..find_runnable_tools(&app) };
    let mut translated = request::translate_request(request, policy, &seal, runnable);
    translated.chat.dropped.extend(charges.members);
    translated.faults.merge(mcp_faults);
    let sent = SentMessages { bytes, headers, search };
    let mut prepared =
        PreparedMessages::prepare(&call, &candidates, translated, policy, sent).await?;
    let tools = match mcp {
        Some(mcp) => Some(prepared.list_mcp_tools(&call, &candidates, mcp).await?),
        None => None,
    };
    let (runner, names) = tools.unzip();
    let first = candidates.first_candidate(&app, |text| prepared.fit_to_model(text))?;
    let order = ChatOrder {
        prompt_field: "messages",
        first,
        others: Vec::new(),
        extras: prepared.web.extras.clone(),
    };
    let head = MessageHead {
        request_id: call.request_id.clone(),
        model: model.id.clone(),
        display: prepared.translated.display,
        seal,
        search: prepared.search.clone(),
        prompt_estimate: engine::prompt_tokens(&prepared.translated.chat),
        stops: prepared.translated.chat.stop.clone(),
        mcp: names.unwrap_or_default(),
    };
    let answer_max = prepared.translated.chat.completion_tokens_max;
    let web_note = prepared.web.note.clone();
    drop(prepared);
    let work = PaidChat::begin_with_policy(&call, order, HoldPolicy::ShareOfBalance)?;
    let started = StartedMessage { work, runner, answer_max, web_note };
    if streams {
        return stream_answer(started, &candidates, head).await;
    }
    give_whole(started, &candidates, head).await
}

/// A message whose money is held.
struct StartedMessage {
    work: PaidChat,
    /// Set if the service calls tools of MCP servers.
    runner: Option<McpRunner>,
    /// The caller's bound on all turns.
    answer_max: Option<u64>,
    web_note: Option<String>,
}

async fn give_whole(
    started: StartedMessage,
    candidates: &ModelCandidates<'_>,
    head: MessageHead,
) -> Result<WholeOrStream<MessageAnswer>, Refusal> {
    let StartedMessage { work, runner, answer_max, web_note } = started;
    let (answer, notes, remaining) = match runner {
        Some(runner) => {
            let flow = work.start_with_tools(Box::new(runner), answer_max);
            let gathered = mcp_answer::gather_message(flow, &head).await?;
            let GatheredMessage { message, notes, settled } = gathered;
            let remaining = settled.map(|it| payment::balance_remaining(&it.receipt));
            (MessageAnswer::Translated(message), notes, remaining)
        }
        None => {
            let answered = work.answer().await?;
            let remaining = payment::balance_remaining(&answered.settled.receipt);
            let notes = answered.notes.clone();
            (build_answer(&head, answered), notes, Some(remaining))
        }
    };
    let answer = model_headers::write_notes(WithHeaders::new(answer), &notes, None);
    let answer = match remaining {
        Some(remaining) => answer.header(payment::BALANCE_REMAINING, remaining),
        None => answer,
    };
    let answer = web_context::add_search_header(answer, web_note);
    Ok(WholeOrStream::Whole(model_headers::write_model_headers(answer, &candidates.first)))
}

/// Requests to an engine of the same protocol stay as they came.
fn choose_policy(app: &AppState, model: &Arc<CatalogueModel>) -> Result<BlockPolicy, Refusal> {
    let engine = app.engines.chat(model)?;
    let is_native = engine.passes_through(NativeProtocol::Messages);
    Ok(if is_native { BlockPolicy::Lenient } else { BlockPolicy::Strict })
}

fn find_runnable_tools(app: &AppState) -> RunnableTools {
    RunnableTools { search: app.web.searcher.is_some(), mcp: false }
}

fn refuse_repeated_member() -> Refusal {
    let mut faults = ValidationFaults::default();
    faults.root().push(REPEATED);
    Refusal::invalid_request(&faults)
}

/// A request that was checked, with its documents and search results.
struct PreparedMessages {
    translated: TranslatedMessages,
    documents: RequestDocuments,
    native: Option<Arc<NativeRequest>>,
    web: WebContext,
    search: Option<MadeSearch>,
}

/// The parts of a request that only one of the policies needs.
struct SentMessages {
    bytes: Bytes,
    headers: Vec<NativeHeader>,
    search: Option<MessagesSearch>,
}

impl PreparedMessages {
    async fn prepare(
        call: &PaidCall,
        candidates: &ModelCandidates<'_>,
        mut translated: TranslatedMessages,
        policy: BlockPolicy,
        sent: SentMessages,
    ) -> Result<PreparedMessages, Refusal> {
        let SentMessages { bytes, mut headers, search } = sent;
        match policy {
            BlockPolicy::Lenient => {
                let body = NativeBody::from_bytes(&bytes);
                let NativeBody { bytes, model_span } = body.ok_or_else(refuse_repeated_member)?;
                let protocol = NativeProtocol::Messages;
                let text = candidates.first.model.text_spec();
                let context_tokens = text.map_or(0, |text| text.context_tokens);
                let removed = long_context::remove_long_context(&mut headers, context_tokens);
                translated.chat.dropped.extend(removed);
                let native = NativeRequest { protocol, body: bytes, model_span, headers };
                PreparedMessages::from_native(translated, native)
            }
            BlockPolicy::Strict => {
                drop(bytes);
                PreparedMessages::from_translated(call, candidates, translated, search).await
            }
        }
    }

    /// For a provider of the same protocol, which checks and reads everything itself.
    fn from_native(
        translated: TranslatedMessages,
        native: NativeRequest,
    ) -> Result<PreparedMessages, Refusal> {
        let faults = translated.faults.clone();
        faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
        Ok(PreparedMessages {
            translated,
            documents: RequestDocuments::default(),
            native: Some(Arc::new(native)),
            web: WebContext::default(),
            search: None,
        })
    }

    async fn from_translated(
        call: &PaidCall,
        candidates: &ModelCandidates<'_>,
        mut translated: TranslatedMessages,
        search: Option<MessagesSearch>,
    ) -> Result<PreparedMessages, Refusal> {
        let chat = &mut translated.chat;
        media::normalise_urls(chat);
        if media::list_urls(chat).next().is_some() {
            candidates.refuse_if_hopeless(call)?;
        }
        let hosts = &call.app.settings.hosts;
        let urls = media::list_urls(chat);
        let hosts = hosts.check_hosts(urls, call.reader_caller_id(), call.now).await?;
        let media_faults = media::check_media(chat, &translated.media_paths, &hosts);
        let mut faults = std::mem::take(&mut translated.faults);
        faults.merge(media_faults);
        faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
        let files = media::take_inline_files(chat);
        let documents = document::read_documents(call, candidates, files, "messages").await?;
        let mut prepared = PreparedMessages {
            translated,
            documents,
            native: None,
            web: WebContext::default(),
            search: None,
        };
        if let Some(search) = search {
            prepared.search_web(call, candidates, &search).await?;
        }
        Ok(prepared)
    }

    /// Lists the tools of the request's MCP servers. No server is asked for a chat that its model
    /// will not accept, or for a caller that is over the limit or cannot pay.
    async fn list_mcp_tools(
        &mut self,
        call: &PaidCall,
        candidates: &ModelCandidates<'_>,
        mcp: MessagesMcp,
    ) -> Result<(McpRunner, McpNames), Refusal> {
        candidates.first_candidate(&call.app, |text| self.fit_to_model(text))?;
        candidates.refuse_if_hopeless(call)?;
        mcp.list(call, &mut self.translated.chat).await
    }

    /// Makes the search, and adds its results to the conversation.
    async fn search_web(
        &mut self,
        call: &PaidCall,
        candidates: &ModelCandidates<'_>,
        search: &MessagesSearch,
    ) -> Result<(), Refusal> {
        // No web request is made for a chat that its model will not accept, or for a caller that is
        // over the limit or cannot pay.
        candidates.first_candidate(&call.app, |text| self.fit_to_model(text))?;
        candidates.refuse_if_hopeless(call)?;
        let message = web::find_last_message(&self.translated.chat);
        let context_tokens =
            candidates.first.model.text_spec().map_or(0, |text| text.context_tokens);
        self.web = WebContext::gather(call, search.options, &message, context_tokens).await?;
        self.search = search.add_results(&mut self.web, &mut self.translated.chat);
        Ok(())
    }

    /// The request for one model, or every reason why the model cannot take it.
    fn fit_to_model(&self, text: &TextSpec) -> Result<ChatRequest, ValidationFaults> {
        let mut chat = self.translated.chat.clone();
        capability_checks::bound_answer(&mut chat, text);
        if let Some(native) = &self.native {
            chat.native = Some(Arc::clone(native));
            return Ok(chat);
        }
        let mut faults = capability_checks::check_capabilities(&chat, text);
        let reads_documents = text.has_capability(TextCapability::Documents);
        let paths = &self.translated.media_paths;
        let unread = media::place_documents(&mut chat, &self.documents, reads_documents, paths);
        faults.merge(unread);
        faults.into_result()?;
        capability_checks::drop_unsupported(&mut chat, text);
        Ok(chat)
    }
}

fn build_answer(head: &MessageHead, answered: PaidAnswer) -> MessageAnswer {
    let model = &answered.model.id;
    let native = answered.answer.native.as_deref();
    let native = native.and_then(|native| native_events::replace_model(native, &[], model));
    if let Some(message) = native.and_then(|native| serde_json::from_str(native.get()).ok()) {
        return MessageAnswer::Native(message);
    }
    let choice = answered.answer.choices.into_iter().next();
    MessageAnswer::Translated(reply::build_whole_message(head, choice, answered.settled.usage))
}

async fn stream_answer(
    started: StartedMessage,
    candidates: &ModelCandidates<'_>,
    head: MessageHead,
) -> Result<WholeOrStream<MessageAnswer>, Refusal> {
    let StartedMessage { work, runner, answer_max, web_note } = started;
    let remaining = work.balance_before();
    let mut flow = match runner {
        Some(runner) => work.start_with_tools(Box::new(runner), answer_max),
        None => work.start_stream(),
    };
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let notes = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(_, notes) => notes,
        AnswerStart::NotYet => RouteNotes::default(),
    };
    let answer = WithHeaders::new(EventStreamBody::new(flow, MessageSseEncoder::new(head)));
    let answer = model_headers::write_notes(answer, &notes, None);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, web_note);
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, &candidates.first)))
}
