//! `POST /chat/completions`: answers a conversation by a text model, whole or streamed.

mod body;
mod compat;
mod completion;
mod encrypted;
mod gates;
pub(in crate::endpoints) mod media;
mod parameters;
pub(super) mod request;
mod seal;
mod spoken;
mod sse_encoder;
pub(in crate::endpoints) mod thoughts;

use domain::catalogue::{Capability, ModelType, TextSpec, Tier, split_suffix};
use domain::limits::tiers::LimitClass;
use wire::chat::{ChatCompletion, ChatCompletionRequest, EffectiveParameters};

use crate::app::{App, Shared};
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::chat::body::ChatBody;
use crate::endpoints::chat::completion::Frame;
use crate::endpoints::chat::completion::completion;
use crate::endpoints::chat::parameters::{Encryption, Searching};
use crate::endpoints::chat::seal::SealHeaders;
use crate::endpoints::chat::sse_encoder::ChatSseEncoder;
use crate::endpoints::document;
use crate::endpoints::lineup::Lineup;
use crate::endpoints::persona::{Preamble, Speaker};
use crate::endpoints::web_context::{self, WebContext, Wish};
use crate::model_headers;
use crate::paid::PaidCall;
use crate::paid_chat::{Opened, Order, RouteNotes, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::reply::sse::{Events, KEEP_ALIVE, WholeOrStream};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/chat/completions", create_chat_completion)
        .tag("Chat")
        .summary("Answer a chat")
        .paid()
        .usually(LimitClass::Text(Tier::L))
        .build()
}

async fn create_chat_completion(
    app: Shared,
    call: Call<Customer, (SealHeaders, ChatBody)>,
) -> Result<WholeOrStream<ChatCompletion>, Refusal> {
    let (call, (headers, ChatBody { request: mut body, names_model })) = PaidCall::of(&app, call);
    let seal = headers.seal()?;
    let asked = split_suffix(&body.model);
    let sent = parameters::sent(body.service_parameters.as_ref(), &asked.options)?;
    let speaker = match &sent.character_slug {
        Some(slug) => Some(Speaker::find(&app, slug).await?),
        None => None,
    };
    let own_model = speaker.as_ref().filter(|_| !names_model);
    let own_model = own_model.and_then(|speaker| speaker.character.model.as_deref());
    let catalogue = app.catalogue.get();
    // If the character's own model was removed from the catalogue, the default answers.
    let is_there = |model: &&str| catalogue.resolve(model, ModelType::Text, call.now).is_ok();
    let own_model = own_model.filter(is_there);
    let fallbacks = body.fallbacks.iter().flatten().map(|it| split_suffix(&it.model).model);
    let model_asked = own_model.unwrap_or(asked.model);
    let lineup = Lineup::resolve(&call, &catalogue, model_asked, fallbacks)?;
    let encryption = Encryption {
        is_asked: seal.is_some(),
        is_supported: lineup.first.model.text().is_some_and(|text| text.has(Capability::E2ee)),
    };
    media::normalise(&mut body.messages);
    if media::addresses(&body.messages).next().is_some() {
        lineup.refuse_if_hopeless(&call)?;
    }
    let mut parameters =
        parameters::effective(sent, encryption, searching(&app, speaker.as_ref()))?;
    let (preamble, web) = prepare(&call, &body, (&lineup, speaker.as_ref()), &parameters).await?;
    parameters.web_search_citations = web.sources;
    let hosts = &app.settings.hosts;
    let addresses = media::addresses(&body.messages);
    let hosts = hosts.judge(addresses, call.reads_for(), call.now).await?;
    let media_faults = media::faults(&body.messages, &hosts);
    let files = media::taken(&mut body.messages);
    let documents = document::read(&call, &lineup, files, "messages").await?;
    let service = request::Service {
        parameters: &parameters,
        media_faults: &media_faults,
        documents: &documents,
        preamble: &preamble,
        seal: seal.filter(|_| parameters.enable_e2ee),
    };
    let fit = |text: &TextSpec| request::fit(&body, text, &service);
    let first = lineup.first_candidate(&app, fit)?;
    let others = lineup.other_candidates(&app, fit)?;
    let left_out = others.left_out();
    let order =
        Order { prompt_field: "messages", first, others: others.candidates, extras: web.extras };
    let work = Work::begin(&call, order)?;
    if let Some(speaker) = &speaker {
        speaker.note_use(&call);
    }
    let frame = Frame {
        id: format!("chatcmpl-{}", call.request_id.as_str()),
        created: call.now.seconds(),
        model: lineup.first.model.id.clone(),
    };
    if body.stream == Some(true) {
        let telling = Telling { frame, parameters, left_out, body: &body, web_note: web.note };
        return stream(work, &lineup, telling).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = lineup.answered_by(&answered.model);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(completion(frame, answered, parameters));
    let answer = model_headers::write_notes(answer, &notes, left_out.as_deref());
    let answer = web_context::noted(answer.header(payment::BALANCE_REMAINING, remaining), web.note);
    Ok(WholeOrStream::Whole(model_headers::write(answer, &model)))
}

fn searching(app: &App, speaker: Option<&Speaker>) -> Searching {
    Searching {
        is_possible: app.web.searcher.is_some(),
        character_wants: speaker.is_some_and(|speaker| speaker.character.web_enabled),
    }
}

/// The prompts around the conversation (character, operator, web results), and the web context.
async fn prepare(
    call: &PaidCall,
    body: &ChatCompletionRequest,
    (lineup, speaker): (&Lineup<'_>, Option<&Speaker>),
    parameters: &EffectiveParameters,
) -> Result<(Preamble, WebContext), Refusal> {
    // An encrypted conversation cannot be read or extended.
    if parameters.enable_e2ee {
        return Ok((Preamble::default(), WebContext::default()));
    }
    let wish = Wish {
        search: parameters.enable_web_search,
        scrapes: parameters.enable_web_scraping,
        cites: parameters.enable_web_citations,
        results: web_context::RESULTS,
    };
    // No web request is made for a chat that its model will not accept.
    if let Some(text) = lineup.first.model.text().filter(|_| wish.is_any()) {
        let faults = gates::faults(body, text);
        faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
        // Nor for a caller that is over the limit or cannot pay.
        lineup.refuse_if_hopeless(call)?;
    }
    let message = spoken::last_message(&body.messages);
    let context_tokens = lineup.first.model.text().map_or(0, |text| text.context_tokens);
    let mut web = WebContext::gather(call, wish, &message, context_tokens).await?;
    if parameters.enable_x_search {
        web.add_x_search(call);
    }
    let service_prompt = if parameters.include_service_system_prompt {
        call.app.settings.system_prompt.as_str()
    } else {
        ""
    };
    let turns = spoken::turns(&body.messages);
    let user = spoken::user_name(&body.messages);
    let told = web.prompt(wish.cites);
    Ok((Preamble::of(speaker, &turns, user, service_prompt, told), web))
}

/// Data for a stream's headers and events besides the model's answer.
struct Telling<'a> {
    frame: Frame,
    parameters: EffectiveParameters,
    /// Fallback models that cannot take the request, for a response header.
    left_out: Option<String>,
    body: &'a ChatCompletionRequest,
    web_note: Option<String>,
}

async fn stream(
    work: Work,
    lineup: &Lineup<'_>,
    telling: Telling<'_>,
) -> Result<WholeOrStream<ChatCompletion>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.opened(KEEP_ALIVE).await? {
        Opened::By(model, notes) => (lineup.answered_by(&model), notes),
        Opened::NotYet => (lineup.first.clone(), RouteNotes::default()),
    };
    let Telling { frame, parameters, left_out, body, web_note } = telling;
    let frame = Frame { model: model.model.id.clone(), ..frame };
    let asks_usage = body.stream_options.as_ref().and_then(|it| it.include_usage) == Some(true);
    let request_id = flow.request_id.clone();
    let sse_encoder = ChatSseEncoder::new(frame, request_id, parameters, asks_usage);
    let answer = WithHeaders::new(Events::of(flow, sse_encoder));
    let answer = model_headers::write_notes(answer, &notes, left_out.as_deref());
    let answer = web_context::noted(answer.header(payment::BALANCE_REMAINING, remaining), web_note);
    Ok(WholeOrStream::Stream(model_headers::write(answer, &model)))
}
