//! `POST /responses`: OpenAI's Responses API, processed like a chat.

mod capability_checks;
mod item;
mod reply;
mod request;
mod sse_encoder;
mod tools;
mod turns;
mod unsupported;
mod web;

use domain::catalogue::{ModelTier, TextCapability, TextSpec};
use domain::limits::tiers::LimitClass;
use wire::chat::SearchMode;
use wire::responses::{Response, ResponseRequest};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::caller::PayingCaller;
use crate::endpoint::{ApiEndpoint, EndpointBuilder};
use crate::endpoints::document;
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::model_candidates::ModelCandidates;
use crate::endpoints::persona::{ChatCharacter, SurroundingPrompts};
use crate::endpoints::responses::reply::ResponseHead;
use crate::endpoints::responses::request::TranslatedRequest;
use crate::endpoints::responses::sse_encoder::ResponseSseEncoder;
use crate::endpoints::responses::unsupported::AvailableSearches;
use crate::endpoints::responses::web::WebSearchRequest;
use crate::endpoints::web_context::{self, LastMessage, WebContext, WebOptions};
use crate::model_headers;
use crate::paid_chat::{AnswerStart, ChatOrder, HoldPolicy, PaidChat, RouteNotes};
use crate::paid_work::PaidCall;
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::reply::sse::{EventStreamBody, KEEP_ALIVE, WholeOrStream};

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
    call: ApiCall<PayingCaller, InferenceBody<ResponseRequest>>,
) -> Result<WholeOrStream<Response>, Refusal> {
    let (call, InferenceBody(mut body)) = PaidCall::from_call(&app, call);
    let streams = body.stream == Some(true);
    let catalogue = app.catalogue.get();
    let fallbacks = body.fallbacks.iter().flatten().map(|it| it.model.as_str());
    let lineup = ModelCandidates::resolve(&call, &catalogue, &body.model, fallbacks)?;
    let slug = body.service_parameters.as_ref().and_then(|it| it.character_slug.as_ref());
    let speaker = match slug {
        Some(slug) => Some(ChatCharacter::find(&app, slug).await?),
        None => None,
    };
    turns::normalise_urls(&mut body.input);
    if turns::list_urls(&body.input).next().is_some() {
        lineup.refuse_if_hopeless(&call)?;
    }
    let hosts = &app.settings.hosts;
    let hosts =
        hosts.check_hosts(turns::list_urls(&body.input), call.reader_caller_id(), call.now).await?;
    let files = turns::take_inline_files(&mut body.input);
    let documents = document::read_documents(&call, &lineup, files, "input").await?;
    let sent = turns::CheckedMedia { hosts: &hosts, documents: &documents };
    let searches = app.web.searcher.is_some();
    let is_webs = speaker.as_ref().is_some_and(|it| it.character.web_enabled) && searches;
    let asked = WebSearchRequest::from_request(
        &body,
        if is_webs { SearchMode::Auto } else { SearchMode::Off },
    );
    let preamble = build_prompts(&app, &body, speaker.as_ref());
    let searches_x = lineup
        .first
        .model
        .text_spec()
        .is_some_and(|text| text.has_capability(TextCapability::XSearch));
    let searchable = AvailableSearches { web: searches, x: searches_x };
    let mut translated = request::translate_request(body, &preamble, &sent, searchable)?;
    let web = add_web_results(&call, &lineup, &mut translated, asked).await?;
    let fit = |text: &TextSpec| {
        capability_checks::fit_to_model(&translated.chat, &translated.stand_ins, text)
    };
    let first = lineup.first_candidate(&app, fit)?;
    let others = lineup.other_candidates(&app, fit)?;
    let left_out = others.skipped_models();
    let (others, extras) = (others.candidates, web.extras);
    let order = ChatOrder { prompt_field: "input", first, others, extras };
    let work = PaidChat::begin_with_policy(&call, order, HoldPolicy::for_chat(&translated.chat))?;
    if let Some(speaker) = &speaker {
        speaker.note_use(&call);
    }
    let frame = ResponseHead {
        request_id: call.request_id.clone(),
        created: call.now.seconds(),
        model: lineup.first.model.id.clone(),
        echo: translated.echo,
        strips_thoughts: translated.strips_thoughts,
        query: web.query,
        sources: web.sources.into(),
    };
    if streams {
        return stream_answer(work, &lineup, frame, left_out.as_deref(), web.note).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = lineup.find_answering_model(&answered.model);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(reply::build_whole_response(frame, answered));
    let answer = model_headers::write_notes(answer, &notes, left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, web.note);
    Ok(WholeOrStream::Whole(model_headers::write_model_headers(answer, &model)))
}

/// The prompts of the character and of the service.
fn build_prompts(
    app: &SharedApp,
    body: &ResponseRequest,
    speaker: Option<&ChatCharacter>,
) -> SurroundingPrompts {
    let options = body.service_parameters.as_ref();
    let has_prompt = options.and_then(|it| it.include_service_system_prompt) != Some(false);
    let service_prompt = if has_prompt { app.settings.system_prompt.as_str() } else { "" };
    SurroundingPrompts::build(
        speaker,
        &web::list_conversation_texts(&body.input),
        None,
        service_prompt,
        None,
    )
}

/// Adds web results to the conversation, if requested.
async fn add_web_results(
    call: &PaidCall,
    lineup: &ModelCandidates<'_>,
    translated: &mut TranslatedRequest,
    WebSearchRequest { wish, message, location }: WebSearchRequest,
) -> Result<WebContext, Refusal> {
    if let Some(location) = location {
        turns::add_instructions(&mut translated.chat.messages, &location);
    }
    let mut web = WebContext::default();
    if wish.is_any() {
        web = gather_web_context(call, lineup, translated, wish, &message).await?;
    }
    if translated.chat.x_search.is_some() {
        web.add_x_search(call);
    }
    Ok(web)
}

async fn gather_web_context(
    call: &PaidCall,
    lineup: &ModelCandidates<'_>,
    translated: &mut TranslatedRequest,
    wish: WebOptions,
    message: &LastMessage,
) -> Result<WebContext, Refusal> {
    // No web request is made for a chat that its model will not accept, or for a caller that is
    // over the limit or cannot pay.
    let fit = |text: &TextSpec| {
        capability_checks::fit_to_model(&translated.chat, &translated.stand_ins, text)
    };
    lineup.first_candidate(&call.app, fit)?;
    lineup.refuse_if_hopeless(call)?;
    let context_tokens = lineup.first.model.text_spec().map_or(0, |text| text.context_tokens);
    let web = WebContext::gather(call, wish, message, context_tokens).await?;
    if let Some(told) = web.build_prompt(wish.cites) {
        turns::add_instructions(&mut translated.chat.messages, &told);
    }
    Ok(web)
}

async fn stream_answer(
    work: PaidChat,
    lineup: &ModelCandidates<'_>,
    frame: ResponseHead,
    left_out: Option<&str>,
    web_note: Option<String>,
) -> Result<WholeOrStream<Response>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.start_stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(model, notes) => (lineup.find_answering_model(&model), notes),
        AnswerStart::NotYet => (lineup.first.clone(), RouteNotes::default()),
    };
    let frame = ResponseHead { model: model.model.id.clone(), ..frame };
    let answer = WithHeaders::new(EventStreamBody::new(flow, ResponseSseEncoder::new(frame)));
    let answer = model_headers::write_notes(answer, &notes, left_out);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, web_note);
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, &model)))
}
