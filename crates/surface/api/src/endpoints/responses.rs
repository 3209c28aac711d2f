//! `POST /responses`: OpenAI's Responses API, processed like a chat.

pub(crate) mod background;
mod body;
mod capability_checks;
mod custom_input;
mod event_writer;
mod history;
mod item;
mod mcp_answer;
mod mcp_history;
mod mcp_item;
mod mcp_request;
mod native_events;
mod reasoning_seal;
mod reply;
mod request;
mod sse_encoder;
pub(in crate::endpoints) mod stored;
mod tool_table;
mod tools;
mod turns;
mod unsupported;
mod web;

use std::sync::Arc;

use axum::http::StatusCode;
use domain::catalogue::{ModelTier, TextCapability, TextSpec};
use domain::limits::tiers::LimitClass;
use engine::{NativeProtocol, NativeRequest};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, WholeOrStream};
use http_frame::hosts::CheckedHosts;
use http_frame::model_headers;
use http_frame::paid_chat::{AnswerStart, ChatOrder, HoldPolicy, PaidChat, RouteNotes};
use http_frame::paid_work::PaidCall;
use http_frame::paid_work::call_funds::CallFunds;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::inference::CONTEXT_OVERFLOW;
use http_frame::reply::WithHeaders;
use http_frame::request_id::RequestId;
use wire::chat::SearchMode;
use wire::responses::{ResponseError, ResponseRequest};

use crate::endpoints::document::{self, RequestDocuments};
use crate::endpoints::model_candidates::ModelCandidates;
use crate::endpoints::persona::{ChatCharacter, SurroundingPrompts};
use crate::endpoints::responses::body::{NativeBody, ResponseBody};
use crate::endpoints::responses::mcp_answer::McpAnswer;
use crate::endpoints::responses::mcp_request::ListedMcp;
use crate::endpoints::responses::reasoning_seal::ReasoningSealer;
use crate::endpoints::responses::reply::{ResponseHead, ResponseReply};
use crate::endpoints::responses::request::{TranslatedRequest, TranslationContext};
use crate::endpoints::responses::sse_encoder::ResponseSseEncoder;
use crate::endpoints::responses::tool_table::CallNames;
use crate::endpoints::responses::tools::ResponseEcho;
use crate::endpoints::responses::unsupported::AvailableSearches;
use crate::endpoints::responses::web::WebSearchRequest;
use crate::endpoints::web_context::{self, LastMessage, WebContext, WebOptions};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/responses", create_response)
        .tag("Chat")
        .summary("Answer a conversation given as items")
        .paid()
        .usual_class(LimitClass::Text(ModelTier::L))
        .build()
}

async fn create_response(
    app: SharedApp,
    call: ApiCall<PayingCaller, ResponseBody>,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let (call, mut body) = PaidCall::from_call(&app, call);
    if let Some(source) = body.turn.take() {
        return stored::answer_turn(&app, call, body, source).await;
    }
    if !body.is_codex {
        return answer_request(&app, &call, body).await;
    }
    let failed = FailedHead {
        request_id: call.request_id.clone(),
        created: call.now.seconds(),
        model: body.request.model.clone(),
        streams: body.request.stream == Some(true),
    };
    let answer = answer_request(&app, &call, body).await;
    answer.or_else(|refusal| failed.adapt_refusal(refusal))
}

async fn answer_request(
    app: &SharedApp,
    call: &PaidCall,
    body: ResponseBody,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let ResponseBody { request: mut body, native, is_codex, turn: _ } = body;
    let streams = body.stream == Some(true);
    let catalogue = app.catalogue.get();
    let fallbacks = body.fallbacks.iter().flatten().map(|it| it.model.as_str());
    let candidates = ModelCandidates::resolve(call, &catalogue, &body.model, fallbacks)?;
    let native = find_native(app, &candidates, native)?;
    let chat_character = find_character(app, &body).await?;
    let (hosts, documents) = check_media(call, &candidates, &mut body).await?;
    let sent = turns::CheckedMedia { hosts: &hosts, documents: &documents };
    let searches = app.web.searcher.is_some();
    let no_search = if is_codex && !searches { web::remove_searches(&mut body) } else { None };
    let is_webs = chat_character.as_ref().is_some_and(|it| it.character.web_enabled) && searches;
    let usual = if is_webs { SearchMode::Auto } else { SearchMode::Off };
    let asked = WebSearchRequest::from_request(&body, usual);
    let sealer = build_sealer(call);
    let context = TranslationContext {
        call,
        preamble: &build_prompts(&body, chat_character.as_ref()),
        media: &sent,
        sealer: &sealer,
        model: candidates.first.model.id.as_str(),
        searchable: AvailableSearches { web: searches, x: searches_x(&candidates) },
        is_native: native.is_some(),
    };
    let mut translated = request::translate_request(body, &context)?;
    translated.chat.dropped.extend(no_search);
    let mut web = match call.terms.funds {
        CallFunds::Quote(_) => WebContext::reserve(call, asked.wish, &asked.message),
        CallFunds::OfRequest | CallFunds::OfJob(_) => {
            add_web_results(call, &candidates, &mut translated, asked).await?
        }
    };
    translated.chat.native = native;
    let is_native = translated.chat.native.is_some();
    let mcp = list_mcp_tools(call, &candidates, &mut translated).await?;
    let fit = |text: &TextSpec| {
        capability_checks::fit_to_model(&translated.chat, &translated.stand_ins, text)
    };
    let first = candidates.first_candidate(app, fit)?;
    let others = candidates.other_candidates(app, fit)?;
    let left_out = others.skipped_models();
    let (others, extras) = (others.candidates, std::mem::take(&mut web.extras));
    let order = ChatOrder { prompt_field: "input", first, others, extras };
    let policy = match mcp {
        // The turns share one hold, which is raised.
        Some(_) => HoldPolicy::ShareOfBalance,
        None => HoldPolicy::for_chat(&translated.chat),
    };
    let work = PaidChat::begin_with_policy(call, order, policy)?;
    if let Some(chat_character) = &chat_character {
        chat_character.note_use(call);
    }
    let told = AnswerNotes { left_out, web_note: web.note.take() };
    let sealer = translated.seals_reasoning.then_some(sealer);
    let answer_max = translated.chat.completion_tokens_max;
    let mut frame = build_head(call, &candidates, translated, sealer, web);
    if let Some(ListedMcp { runner, start }) = mcp {
        frame.mcp_start = start;
        let tools = McpAnswer { runner, answer_max, streams };
        return mcp_answer::answer_with_tools(work, &candidates, frame, tools, told).await;
    }
    if streams {
        let encoder = |frame| ResponseSseEncoder::new(frame, is_native);
        return stream_answer(work, &candidates, frame, encoder, told).await;
    }
    give_whole(work, &candidates, frame, told).await
}

/// The character that the request names.
async fn find_character(
    app: &SharedApp,
    request: &ResponseRequest,
) -> Result<Option<ChatCharacter>, Refusal> {
    let slug = request.service_parameters.as_ref().and_then(|it| it.character_slug.as_ref());
    match slug {
        Some(slug) => ChatCharacter::find(app, slug).await.map(Some),
        None => Ok(None),
    }
}

fn build_head(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    translated: TranslatedRequest,
    sealer: Option<ReasoningSealer>,
    web: WebContext,
) -> ResponseHead {
    ResponseHead {
        request_id: call.request_id.clone(),
        created: call.now.seconds(),
        model: candidates.first.model.id.clone(),
        echo: translated.echo,
        strips_thoughts: translated.strips_thoughts,
        call_names: translated.table.into_call_names(),
        sealer,
        streams_summary: translated.chat.reasoning.summary.is_some(),
        lists_sources: translated.lists_sources,
        query: web.query,
        sources: web.sources.into(),
        mcp_start: Vec::new(),
    }
}

/// Lists the tools of the request's MCP servers. No server is asked for a chat that its model will
/// not accept, or for a caller that is over the limit or cannot pay.
async fn list_mcp_tools(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    translated: &mut TranslatedRequest,
) -> Result<Option<ListedMcp>, Refusal> {
    let Some(mcp) = translated.mcp.take() else { return Ok(None) };
    let fit = |text: &TextSpec| {
        capability_checks::fit_to_model(&translated.chat, &translated.stand_ins, text)
    };
    candidates.first_candidate(&call.app, fit)?;
    candidates.refuse_if_hopeless(call)?;
    let TranslatedRequest { table, chat, .. } = translated;
    mcp.list(call, table, chat).await.map(Some)
}

/// Notes for the headers of an answer.
struct AnswerNotes {
    /// Ids of the models that cannot take the request.
    left_out: Option<String>,
    /// The outcome of the web search.
    web_note: Option<String>,
}

async fn give_whole(
    work: PaidChat,
    candidates: &ModelCandidates<'_>,
    frame: ResponseHead,
    told: AnswerNotes,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = candidates.find_answering_model(&answered.model);
    let notes = answered.notes.clone();
    let native = answered.answer.native.as_deref();
    let native = native.and_then(|native| native_events::rename_model(native, &model.model.id));
    let reply = match native {
        Some(response) => ResponseReply::Native(response),
        None => ResponseReply::Own(Box::new(reply::build_whole_response(frame, answered))),
    };
    let answer =
        model_headers::write_notes(WithHeaders::new(reply), &notes, told.left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, told.web_note);
    Ok(WholeOrStream::Whole(model_headers::write_model_headers(answer, &model)))
}

/// The request as it was sent, if the model's engine takes it.
fn find_native(
    app: &SharedApp,
    candidates: &ModelCandidates<'_>,
    native: Option<NativeBody>,
) -> Result<Option<Arc<NativeRequest>>, Refusal> {
    let Some(NativeBody { bytes, model_span }) = native else { return Ok(None) };
    let protocol = NativeProtocol::Responses;
    if !app.engines.chat(candidates.first.model)?.passes_through(protocol) {
        return Ok(None);
    }
    let headers = Vec::new();
    Ok(Some(Arc::new(NativeRequest { protocol, body: bytes, model_span, headers })))
}

/// Checks the addresses of images and documents, and reads the documents.
async fn check_media(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    body: &mut ResponseRequest,
) -> Result<(CheckedHosts, RequestDocuments), Refusal> {
    turns::normalise_urls(&mut body.input);
    if turns::list_urls(&body.input).next().is_some() {
        candidates.refuse_if_hopeless(call)?;
    }
    let hosts = &call.app.settings.hosts;
    let urls = turns::list_urls(&body.input);
    let hosts = hosts.check_hosts(urls, call.reader_caller_id(), call.now).await?;
    let files = turns::take_inline_files(&mut body.input);
    let documents = document::read_documents(call, candidates, files, "input").await?;
    Ok((hosts, documents))
}

fn build_sealer(call: &PaidCall) -> ReasoningSealer {
    let secret = &call.app.wallets.token_secret;
    let owner = call.holder.owner.id.0.as_u128();
    ReasoningSealer::new(secret, owner, Arc::clone(&call.app.entropy))
}

fn searches_x(candidates: &ModelCandidates<'_>) -> bool {
    let text = candidates.first.model.text_spec();
    text.is_some_and(|text| text.has_capability(TextCapability::XSearch))
}

/// The fields of a response that failed before its model was asked.
struct FailedHead {
    request_id: RequestId,
    created: i64,
    model: String,
    streams: bool,
}

impl FailedHead {
    /// The refusal in the form that Codex acts upon.
    fn adapt_refusal(self, refusal: Refusal) -> Result<WholeOrStream<ResponseReply>, Refusal> {
        if refusal.status() == StatusCode::PAYMENT_REQUIRED {
            return Err(refusal.into_quota_refusal());
        }
        let overflow = refusal.error_object().filter(|(code, _)| *code == CONTEXT_OVERFLOW);
        let Some((_, message)) = overflow.filter(|_| self.streams) else { return Err(refusal) };
        let error = ResponseError { code: CONTEXT_OVERFLOW, message: message.to_owned() };
        let frame = ResponseHead {
            request_id: self.request_id,
            created: self.created,
            model: self.model,
            echo: ResponseEcho::build(&[], None, None),
            strips_thoughts: false,
            call_names: CallNames::default(),
            sealer: None,
            streams_summary: false,
            lists_sources: false,
            query: None,
            sources: Arc::default(),
            mcp_start: Vec::new(),
        };
        let events = EventStreamBody::from_events(sse_encoder::encode_refusal(frame, error));
        Ok(WholeOrStream::Stream(WithHeaders::new(events)))
    }
}

/// The prompts of the character. The operator's system prompt is for chats: agents send their own.
fn build_prompts(
    body: &ResponseRequest,
    chat_character: Option<&ChatCharacter>,
) -> SurroundingPrompts {
    let texts = web::list_conversation_texts(&body.input);
    SurroundingPrompts::build(chat_character, &texts, None, "", None)
}

/// Adds web results to the conversation, if requested.
async fn add_web_results(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    translated: &mut TranslatedRequest,
    WebSearchRequest { wish, message, location }: WebSearchRequest,
) -> Result<WebContext, Refusal> {
    if let Some(location) = location {
        turns::add_instructions(&mut translated.chat.messages, &location);
    }
    let mut web = WebContext::default();
    if wish.is_any() {
        web = gather_web_context(call, candidates, translated, wish, &message).await?;
    }
    if translated.chat.x_search.is_some() {
        web.add_x_search(call);
    }
    Ok(web)
}

async fn gather_web_context(
    call: &PaidCall,
    candidates: &ModelCandidates<'_>,
    translated: &mut TranslatedRequest,
    wish: WebOptions,
    message: &LastMessage,
) -> Result<WebContext, Refusal> {
    // No web request is made for a chat that its model will not accept, or for a caller that is
    // over the limit or cannot pay.
    let fit = |text: &TextSpec| {
        capability_checks::fit_to_model(&translated.chat, &translated.stand_ins, text)
    };
    candidates.first_candidate(&call.app, fit)?;
    candidates.refuse_if_hopeless(call)?;
    let context_tokens = candidates.first.model.text_spec().map_or(0, |text| text.context_tokens);
    let web = WebContext::gather(call, wish, message, context_tokens).await?;
    if let Some(told) = web.build_prompt(wish.cites) {
        turns::add_instructions(&mut translated.chat.messages, &told);
    }
    Ok(web)
}

async fn stream_answer(
    work: PaidChat,
    candidates: &ModelCandidates<'_>,
    frame: ResponseHead,
    encoder: impl FnOnce(ResponseHead) -> ResponseSseEncoder,
    told: AnswerNotes,
) -> Result<WholeOrStream<ResponseReply>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.start_stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(model, notes) => (candidates.find_answering_model(&model), notes),
        AnswerStart::NotYet => (candidates.first.clone(), RouteNotes::default()),
    };
    let frame = ResponseHead { model: model.model.id.clone(), ..frame };
    let answer = WithHeaders::new(EventStreamBody::new(flow, encoder(frame)));
    let answer = model_headers::write_notes(answer, &notes, told.left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, told.web_note);
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, &model)))
}
