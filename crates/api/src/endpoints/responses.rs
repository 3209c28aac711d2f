//! `POST /responses`: OpenAI's Responses API, processed like a chat.

mod gates;
mod item;
mod missing;
mod reply;
mod request;
mod sse_encoder;
mod tools;
mod turns;
mod web;

use domain::catalogue::{Capability, TextSpec, Tier};
use domain::limits::tiers::LimitClass;
use wire::chat::SearchMode;
use wire::responses::{Response, ResponseRequest};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::document;
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::lineup::Lineup;
use crate::endpoints::persona::{Preamble, Speaker};
use crate::endpoints::responses::missing::Searchable;
use crate::endpoints::responses::reply::Frame;
use crate::endpoints::responses::request::Translated;
use crate::endpoints::responses::sse_encoder::ResponseSseEncoder;
use crate::endpoints::responses::web::Asked;
use crate::endpoints::web_context::{self, LastMessage, WebContext, Wish};
use crate::model_headers;
use crate::paid::PaidCall;
use crate::paid_chat::{Opened, Order, RouteNotes, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;
use crate::reply::sse::{Events, KEEP_ALIVE, WholeOrStream};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/responses", create_response)
        .tag("Chat")
        .summary("Answer a conversation given as items")
        .paid()
        .usually(LimitClass::Text(Tier::L))
        .build()
}

async fn create_response(
    app: Shared,
    call: Call<Customer, InferenceBody<ResponseRequest>>,
) -> Result<WholeOrStream<Response>, Refusal> {
    let (call, InferenceBody(mut body)) = PaidCall::of(&app, call);
    let streams = body.stream == Some(true);
    let catalogue = app.catalogue.get();
    let fallbacks = body.fallbacks.iter().flatten().map(|it| it.model.as_str());
    let lineup = Lineup::resolve(&call, &catalogue, &body.model, fallbacks)?;
    let slug = body.service_parameters.as_ref().and_then(|it| it.character_slug.as_ref());
    let speaker = match slug {
        Some(slug) => Some(Speaker::find(&app, slug).await?),
        None => None,
    };
    turns::normalise(&mut body.input);
    if turns::addresses(&body.input).next().is_some() {
        lineup.refuse_if_hopeless(&call)?;
    }
    let hosts = &app.settings.hosts;
    let hosts = hosts.judge(turns::addresses(&body.input), call.reads_for(), call.now).await?;
    let files = turns::taken(&mut body.input);
    let documents = document::read(&call, &lineup, files, "input").await?;
    let sent = turns::Sent { hosts: &hosts, documents: &documents };
    let searches = app.web.searcher.is_some();
    let is_webs = speaker.as_ref().is_some_and(|it| it.character.web_enabled) && searches;
    let asked = Asked::of(&body, if is_webs { SearchMode::Auto } else { SearchMode::Off });
    let preamble = preamble(&app, &body, speaker.as_ref());
    let searches_x = lineup.first.model.text().is_some_and(|text| text.has(Capability::XSearch));
    let searchable = Searchable { web: searches, x: searches_x };
    let mut translated = request::translate(body, &preamble, &sent, searchable)?;
    let web = look(&call, &lineup, &mut translated, asked).await?;
    let fit = |text: &TextSpec| gates::fit(&translated.chat, &translated.stand_ins, text);
    let first = lineup.first_candidate(&app, fit)?;
    let others = lineup.other_candidates(&app, fit)?;
    let left_out = others.left_out();
    let (others, extras) = (others.candidates, web.extras);
    let order = Order { prompt_field: "input", first, others, extras };
    let work = Work::begin(&call, order)?;
    if let Some(speaker) = &speaker {
        speaker.note_use(&call);
    }
    let frame = Frame {
        request_id: call.request_id.clone(),
        created: call.now.seconds(),
        model: lineup.first.model.id.clone(),
        echo: translated.echo,
        strips_thoughts: translated.strips_thoughts,
        query: web.query,
        sources: web.sources.into(),
    };
    if streams {
        return stream(work, &lineup, frame, (left_out.as_deref(), web.note)).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = lineup.answered_by(&answered.model);
    let notes = answered.notes.clone();
    let answer = WithHeaders::new(reply::whole(frame, answered));
    let answer = model_headers::write_notes(answer, &notes, left_out.as_deref());
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::noted(answer, web.note);
    Ok(WholeOrStream::Whole(model_headers::write(answer, &model)))
}

/// The prompts of the character and of the service.
fn preamble(app: &Shared, body: &ResponseRequest, speaker: Option<&Speaker>) -> Preamble {
    let options = body.service_parameters.as_ref();
    let has_prompt = options.and_then(|it| it.include_service_system_prompt) != Some(false);
    let service_prompt = if has_prompt { app.settings.system_prompt.as_str() } else { "" };
    Preamble::of(speaker, &web::turns(&body.input), None, service_prompt, None)
}

/// Adds web results to the conversation, if requested.
async fn look(
    call: &PaidCall,
    lineup: &Lineup<'_>,
    translated: &mut Translated,
    Asked { wish, message, location }: Asked,
) -> Result<WebContext, Refusal> {
    if let Some(location) = location {
        turns::add_instructions(&mut translated.chat.messages, &location);
    }
    let mut web = WebContext::default();
    if wish.is_any() {
        web = gather(call, lineup, translated, wish, &message).await?;
    }
    if translated.chat.x_search.is_some() {
        web.add_x_search(call);
    }
    Ok(web)
}

async fn gather(
    call: &PaidCall,
    lineup: &Lineup<'_>,
    translated: &mut Translated,
    wish: Wish,
    message: &LastMessage,
) -> Result<WebContext, Refusal> {
    // No web request is made for a chat that its model will not accept, or for a caller that is
    // over the limit or cannot pay.
    let fit = |text: &TextSpec| gates::fit(&translated.chat, &translated.stand_ins, text);
    lineup.first_candidate(&call.app, fit)?;
    lineup.refuse_if_hopeless(call)?;
    let context_tokens = lineup.first.model.text().map_or(0, |text| text.context_tokens);
    let web = WebContext::gather(call, wish, message, context_tokens).await?;
    if let Some(told) = web.prompt(wish.cites) {
        turns::add_instructions(&mut translated.chat.messages, &told);
    }
    Ok(web)
}

async fn stream(
    work: Work,
    lineup: &Lineup<'_>,
    frame: Frame,
    (left_out, web_note): (Option<&str>, Option<String>),
) -> Result<WholeOrStream<Response>, Refusal> {
    let remaining = work.balance_before();
    let mut flow = work.stream();
    // Until the first keep-alive is due, a failure can still be reported by the status.
    let (model, notes) = match flow.opened(KEEP_ALIVE).await? {
        Opened::By(model, notes) => (lineup.answered_by(&model), notes),
        Opened::NotYet => (lineup.first.clone(), RouteNotes::default()),
    };
    let frame = Frame { model: model.model.id.clone(), ..frame };
    let answer = WithHeaders::new(Events::of(flow, ResponseSseEncoder::new(frame)));
    let answer = model_headers::write_notes(answer, &notes, left_out);
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    let answer = web_context::noted(answer, web_note);
    Ok(WholeOrStream::Stream(model_headers::write(answer, &model)))
}
