//! `POST /responses`: a chat in the words of OpenAI's newer API, answered by the same core.

mod gates;
mod item;
mod missing;
mod reply;
mod request;
mod teller;
mod tools;
mod turns;

use domain::catalogue::TextSpec;
use wire::responses::{Response, ResponseRequest};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::document::{self, PdfFiles};
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::lineup::Lineup;
use crate::endpoints::responses::reply::Frame;
use crate::endpoints::responses::teller::ResponseTeller;
use crate::model_headers;
use crate::paid_chat::{Opened, Order, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::Answer;
use crate::reply::sse::{Events, KEEP_ALIVE, Told};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/responses", create_response)
        .tag("Chat")
        .summary("Answer a conversation given as items")
        .limited_by_model()
        .experimental()
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model or character; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The content is against the policy of the model's provider")
        .refuses(504, "The answer took too long")
        .build()
}

async fn create_response(
    app: Shared,
    call: Call<Customer, InferenceBody<ResponseRequest>>,
) -> Result<Told<Response>, Refusal> {
    let (Customer(holder), InferenceBody(mut body)) = (call.caller, call.input);
    let streams = body.stream == Some(true);
    let catalogue = app.catalogue.get();
    let fallbacks = body.fallbacks.iter().flatten().map(|it| it.model.as_str());
    let lineup = Lineup::resolve(&catalogue, &body.model, fallbacks, (call.now, call.country))?;
    let hosts = app.settings.hosts.judge(turns::addresses(&body.input), call.now).await;
    let files = turns::taken(&mut body.input);
    let documents = document::read(&app, files, PdfFiles::wanted_by(&lineup)).await?;
    let sent = turns::Sent { hosts: &hosts, documents: &documents };
    let translated = request::translate(body, &app.settings.system_prompt, &sent)?;
    let fit = |text: &TextSpec| gates::fit(&translated.chat, &translated.stand_ins, text);
    let order = Order {
        holder,
        request_id: call.request_id.clone(),
        prompt_field: "input",
        first: lineup.first_candidate(&app, fit)?,
        others: lineup.other_candidates(&app, fit)?,
    };
    let work = Work::begin(&app, order, &call.standing)?;
    let frame = Frame {
        request_id: call.request_id.clone(),
        created: call.now.seconds(),
        model: lineup.first.model.id.clone(),
        echo: translated.echo,
        strips_thoughts: translated.strips_thoughts,
    };
    if streams {
        return stream(work, &lineup, frame).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = lineup.answered_by(&answered.model);
    let answer = Answer::new(reply::whole(frame, answered));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Whole(model_headers::write(answer, &model)))
}

async fn stream(work: Work, lineup: &Lineup<'_>, frame: Frame) -> Result<Told<Response>, Refusal> {
    let remaining = work.balance_after_hold();
    let mut flow = work.stream();
    // The status can still tell of a failure until the first keep-alive is due.
    let model = match flow.opened(KEEP_ALIVE).await? {
        Opened::By(model) => lineup.answered_by(&model),
        Opened::NotYet => lineup.first.clone(),
    };
    let frame = Frame { model: model.model.id.clone(), ..frame };
    let answer = Answer::new(Events::of(flow, ResponseTeller::new(frame)));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Stream(model_headers::write(answer, &model)))
}
