//! `POST /chat/completions`: answers a conversation by a text model, whole or streamed.

mod body;
mod capability_checks;
mod compat;
mod completion;
mod conversation_text;
mod e2ee;
mod encrypted_reasoning;
pub(in crate::endpoints) mod media;
mod parameters;
pub(super) mod request;
mod sse_encoder;
pub(in crate::endpoints) mod think_filter;

use domain::catalogue::{ModelTier, ModelType, TextCapability, TextSpec, split_suffix};
use domain::limits::tiers::LimitClass;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::event_stream::{EventStreamBody, KEEP_ALIVE, WholeOrStream};
use http_frame::model_headers;
use http_frame::paid_chat::{AnswerStart, ChatOrder, PaidChat, RouteNotes};
use http_frame::paid_work::PaidCall;
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::chat::{ChatCompletion, ChatCompletionRequest, EffectiveParameters};

use crate::endpoints::chat::body::ChatBody;
use crate::endpoints::chat::completion::ChatChunkHead;
use crate::endpoints::chat::completion::build_completion;
use crate::endpoints::chat::e2ee::SealHeaders;
use crate::endpoints::chat::parameters::{E2eeState, SearchAvailability};
use crate::endpoints::chat::sse_encoder::ChatSseEncoder;
use crate::endpoints::document;
use crate::endpoints::model_candidates::ModelCandidates;
use crate::endpoints::persona::{ChatCharacter, SurroundingPrompts};
use crate::endpoints::web_context::{self, WebContext, WebOptions};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/chat/completions", create_chat_completion)
        .tag("Chat")
        .summary("Create a chat completion")
        .paid()
        .usual_class(LimitClass::Text(ModelTier::L))
        .build()
}

async fn create_chat_completion(
    app: SharedApp,
    call: ApiCall<PayingCaller, (SealHeaders, ChatBody)>,
) -> Result<WholeOrStream<ChatCompletion>, Refusal> {
    let (call, (headers, ChatBody { request: mut body, names_model })) =
        PaidCall::from_call(&app, call);
    let seal = headers.into_seal()?;
    let asked = split_suffix(&body.model);
    let sent = parameters::merge_parameters(body.service_parameters.as_ref(), &asked.options)?;
    let chat_character = match &sent.character_slug {
        Some(slug) => Some(ChatCharacter::find(&app, slug).await?),
        None => None,
    };
    let own_model = chat_character.as_ref().filter(|_| !names_model);
    let own_model = own_model.and_then(|chat_character| chat_character.character.model.as_deref());
    let catalogue = app.catalogue.get();
    // If the character's own model was removed from the catalogue, the default answers.
    let is_there = |model: &&str| catalogue.resolve_model(model, ModelType::Text, call.now).is_ok();
    let own_model = own_model.filter(is_there);
    let fallbacks = body.fallbacks.iter().flatten().map(|it| split_suffix(&it.model).model);
    let model_asked = own_model.unwrap_or(asked.model);
    let candidates = ModelCandidates::resolve(&call, &catalogue, model_asked, fallbacks)?;
    let supports_e2ee = |text: &TextSpec| text.has_capability(TextCapability::E2ee);
    let encryption = E2eeState {
        is_asked: seal.is_some(),
        is_supported: candidates.first.model.text_spec().is_some_and(supports_e2ee),
    };
    media::normalise_urls(&mut body.messages);
    if media::list_urls(&body.messages).next().is_some() {
        candidates.refuse_if_hopeless(&call)?;
    }
    let search = find_search_availability(&app, chat_character.as_ref());
    let mut parameters = parameters::resolve_parameters(sent, encryption, search)?;
    let (preamble, web) =
        prepare_prompts(&call, &body, &candidates, chat_character.as_ref(), &parameters).await?;
    parameters.web_search_citations = web.sources;
    let hosts = &app.settings.hosts;
    let addresses = media::list_urls(&body.messages);
    let hosts = hosts.check_hosts(addresses, call.reader_caller_id(), call.now).await?;
    let media_faults = media::check_media(&body.messages, &hosts);
    let files = media::take_inline_files(&mut body.messages);
    let documents = document::read_documents(&call, &candidates, files, "messages").await?;
    let service = request::ServiceAdditions {
        parameters: &parameters,
        media_faults: &media_faults,
        documents: &documents,
        preamble: &preamble,
        seal: seal.filter(|_| parameters.enable_e2ee),
    };
    let fit = |text: &TextSpec| request::fit_to_model(&body, text, &service);
    let first = candidates.first_candidate(&app, fit)?;
    let others = candidates.other_candidates(&app, fit)?;
    let left_out = others.skipped_models();
    let order = ChatOrder {
        prompt_field: "messages",
        first,
        others: others.candidates,
        extras: web.extras,
    };
    let work = PaidChat::begin(&call, order)?;
    if let Some(chat_character) = &chat_character {
        chat_character.note_use(&call);
    }
    let frame = ChatChunkHead {
        id: format!("chatcmpl-{}", call.request_id.as_str()),
        created: call.now.seconds(),
        model: candidates.first.model.id.clone(),
    };
    let data = ChatReplyData { frame, parameters, left_out, body: &body, web_note: web.note };
    if body.stream == Some(true) {
        return stream_answer(work, &candidates, data).await;
    }
    answer_whole(work, &candidates, data).await
}

/// Returns the whole answer after its charge was settled.
async fn answer_whole(
    work: PaidChat,
    candidates: &ModelCandidates<'_>,
    data: ChatReplyData<'_>,
) -> Result<WholeOrStream<ChatCompletion>, Refusal> {
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = candidates.find_answering_model(&answered.model);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(build_completion(data.frame, answered, data.parameters));
    let answer = model_headers::write_notes(answer, &notes, data.left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::add_search_header(answer, data.web_note);
    Ok(WholeOrStream::Whole(model_headers::write_model_headers(answer, &model)))
}

fn find_search_availability(
    app: &AppState,
    chat_character: Option<&ChatCharacter>,
) -> SearchAvailability {
    SearchAvailability {
        is_possible: app.web.searcher.is_some(),
        character_wants: chat_character
            .is_some_and(|chat_character| chat_character.character.web_enabled),
    }
}

/// The prompts around the conversation (character, operator, web results), and the web context.
async fn prepare_prompts(
    call: &PaidCall,
    body: &ChatCompletionRequest,
    candidates: &ModelCandidates<'_>,
    chat_character: Option<&ChatCharacter>,
    parameters: &EffectiveParameters,
) -> Result<(SurroundingPrompts, WebContext), Refusal> {
    // An encrypted conversation cannot be read or extended.
    if parameters.enable_e2ee {
        return Ok((SurroundingPrompts::default(), WebContext::default()));
    }
    let wish = WebOptions {
        search: parameters.enable_web_search,
        scrapes: parameters.enable_web_scraping,
        cites: parameters.enable_web_citations,
        results: web_context::RESULTS,
    };
    // No web request is made for a chat that its model will not accept.
    if let Some(text) = candidates.first.model.text_spec().filter(|_| wish.is_any()) {
        let faults = capability_checks::check_capabilities(body, text);
        faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
        // Nor for a caller that is over the limit or cannot pay.
        candidates.refuse_if_hopeless(call)?;
    }
    let message = conversation_text::last_message(&body.messages);
    let context_tokens = candidates.first.model.text_spec().map_or(0, |text| text.context_tokens);
    let mut web = WebContext::gather(call, wish, &message, context_tokens).await?;
    if parameters.enable_x_search {
        web.add_x_search(call);
    }
    let service_prompt = if parameters.include_service_system_prompt {
        call.app.settings.system_prompt.as_str()
    } else {
        ""
    };
    let turns = conversation_text::list_conversation_texts(&body.messages);
    let user = conversation_text::user_name(&body.messages);
    let told = web.build_prompt(wish.cites);
    Ok((SurroundingPrompts::build(chat_character, &turns, user, service_prompt, told), web))
}

/// Data for a reply's headers and events besides the model's answer.
struct ChatReplyData<'a> {
    frame: ChatChunkHead,
    parameters: EffectiveParameters,
    /// Fallback models that cannot take the request, for a response header.
    left_out: Option<String>,
    body: &'a ChatCompletionRequest,
    web_note: Option<String>,
}

async fn stream_answer(
    work: PaidChat,
    candidates: &ModelCandidates<'_>,
    data: ChatReplyData<'_>,
) -> Result<WholeOrStream<ChatCompletion>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.start_stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.wait_for_start(KEEP_ALIVE).await? {
        AnswerStart::By(model, notes) => (candidates.find_answering_model(&model), notes),
        AnswerStart::NotYet => (candidates.first.clone(), RouteNotes::default()),
    };
    let ChatReplyData { frame, parameters, left_out, body, web_note } = data;
    let frame = ChatChunkHead { model: model.model.id.clone(), ..frame };
    let asks_usage = body.stream_options.as_ref().and_then(|it| it.include_usage) == Some(true);
    let request_id = flow.request_id.clone();
    let sse_encoder = ChatSseEncoder::new(frame, request_id, parameters, asks_usage);
    let answer = WithHeaders::new(EventStreamBody::new(flow, sse_encoder));
    let answer = model_headers::write_notes(answer, &notes, left_out.as_deref());
    let answer = web_context::add_search_header(
        answer.header(payment::BALANCE_REMAINING, remaining),
        web_note,
    );
    Ok(WholeOrStream::Stream(model_headers::write_model_headers(answer, &model)))
}
