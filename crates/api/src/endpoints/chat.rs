//! `POST /chat/completions`: a conversation answered by a text model, whole or as a stream.

mod body;
mod compat;
mod completion;
mod gates;
pub(in crate::endpoints) mod media;
mod parameters;
mod request;
mod seal;
mod teller;
pub(in crate::endpoints) mod thoughts;

use domain::catalogue::{Capability, TextSpec, split_suffix};
use wire::chat::{ChatCompletion, ChatCompletionRequest, EffectiveParameters};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::chat::body::ChatBody;
use crate::endpoints::chat::completion::completion;
use crate::endpoints::chat::parameters::Encryption;
use crate::endpoints::chat::seal::SealHeaders;
use crate::endpoints::chat::teller::{ChatTeller, Frame};
use crate::endpoints::document::{self, PdfFiles};
use crate::endpoints::lineup::Lineup;
use crate::model_headers;
use crate::paid_chat::{Opened, Order, Work};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::Answer;
use crate::reply::sse::{Events, KEEP_ALIVE, Told};

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/chat/completions", create_chat_completion)
        .tag("Chat")
        .summary("Answer a chat")
        .limited_by_model()
        .refuses(403, "The model is not available in the caller's country")
        .refuses(404, "There is no such model or character; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .refuses(422, "The content is against the policy of the model's provider")
        .refuses(504, "The answer took too long")
        .build()
}

async fn create_chat_completion(
    app: Shared,
    call: Call<Customer, (SealHeaders, ChatBody)>,
) -> Result<Told<ChatCompletion>, Refusal> {
    let (Customer(holder), (headers, ChatBody(mut body))) = (call.caller, call.input);
    let seal = headers.seal()?;
    let asked = split_suffix(&body.model);
    let catalogue = app.catalogue.get();
    let fallbacks = body.fallbacks.iter().flatten().map(|it| split_suffix(&it.model).model);
    let lineup = Lineup::resolve(&catalogue, asked.model, fallbacks, (call.now, call.country))?;
    let encryption = Encryption {
        is_asked: seal.is_some(),
        is_supported: lineup.first.model.text().is_some_and(|text| text.has(Capability::E2ee)),
    };
    let sent = body.service_parameters.as_ref();
    let parameters = parameters::effective(sent, &asked.options, encryption)?;
    let hosts = app.settings.hosts.judge(media::addresses(&body.messages), call.now).await;
    let media_faults = media::faults(&body.messages, &hosts);
    let files = media::taken(&mut body.messages);
    let documents = document::read(&app, files, PdfFiles::wanted_by(&lineup)).await?;
    let service = request::Service {
        parameters: &parameters,
        media_faults: &media_faults,
        documents: &documents,
        system_prompt: &app.settings.system_prompt,
        seal: seal.filter(|_| parameters.enable_e2ee),
    };
    let fit = |text: &TextSpec| request::fit(&body, text, &service);
    let order = Order {
        holder,
        request_id: call.request_id.clone(),
        prompt_field: "messages",
        first: lineup.first_candidate(&app, fit)?,
        others: lineup.other_candidates(&app, fit)?,
    };
    let work = Work::begin(&app, order, &call.standing)?;
    let frame = Frame {
        id: format!("chatcmpl-{}", call.request_id.as_str()),
        created: call.now.seconds(),
        model: lineup.first.model.id.clone(),
    };
    if body.stream == Some(true) {
        return stream(work, &lineup, Telling { frame, parameters, body: &body }).await;
    }
    let answered = work.answer().await?;
    let remaining = payment::balance_remaining(&answered.settled.receipt);
    let model = lineup.answered_by(&answered.model);
    let answer = Answer::new(completion(frame, answered, parameters));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Whole(model_headers::write(answer, &model)))
}

/// What a stream says beside what the model says.
struct Telling<'a> {
    frame: Frame,
    parameters: EffectiveParameters,
    body: &'a ChatCompletionRequest,
}

async fn stream(
    work: Work,
    lineup: &Lineup<'_>,
    telling: Telling<'_>,
) -> Result<Told<ChatCompletion>, Refusal> {
    let remaining = work.balance_after_hold();
    let mut flow = work.stream();
    // The status can still tell of a failure until the first keep-alive is due.
    let model = match flow.opened(KEEP_ALIVE).await? {
        Opened::By(model) => lineup.answered_by(&model),
        Opened::NotYet => lineup.first.clone(),
    };
    let Telling { frame, parameters, body } = telling;
    let frame = Frame { model: model.model.id.clone(), ..frame };
    let asks_usage = body.stream_options.as_ref().and_then(|it| it.include_usage) == Some(true);
    let request_id = flow.request_id.clone();
    let teller = ChatTeller::new(frame, request_id, &parameters, asks_usage);
    let answer = Answer::new(Events::of(flow, teller));
    let answer = answer.header(payment::BALANCE_REMAINING, remaining);
    Ok(Told::Stream(model_headers::write(answer, &model)))
}
