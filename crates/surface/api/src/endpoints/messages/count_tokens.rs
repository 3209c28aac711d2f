//! `POST /messages/count_tokens`: estimates the tokens of a prompt, for free.

use domain::catalogue::ModelType;
use domain::limits::tiers::LimitClass;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use wire::messages::{MessagesRequest, TokenCountReply, TokenCountRequest};

use super::request::translate_request;
use super::thinking_seal::ThinkingSeal;
use super::{choose_policy, find_runnable_tools};
use crate::endpoints::messages::body::MessagesBody;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/messages/count_tokens", count_tokens)
        .tag("Chat")
        .summary("Count the tokens of a prompt")
        .limit(LimitClass::TokenCount)
        .failures_uncounted()
        .refuses(403, "The model is not for the caller's country, or not for its key")
        .refuses(404, "There is no such model; the message names the nearest")
        .refuses(410, "The model was removed and nothing answers in its place")
        .build()
}

async fn count_tokens(
    app: SharedApp,
    call: ApiCall<PayingCaller, MessagesBody<TokenCountRequest>>,
) -> Result<WithHeaders<TokenCountReply>, Refusal> {
    let (call, body) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let found = call.find_model(&catalogue, &body.request.model, ModelType::Text);
    let model = found.map_err(refuse_model)?.model;
    let policy = choose_policy(&app, model)?;
    let seal = ThinkingSeal::new(&app.sessions, &model.id, call.holder.owner.id);
    let request = to_messages_request(body.request);
    let translated = translate_request(request, policy, &seal, find_runnable_tools(&app));
    translated.faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let input_tokens = engine::prompt_tokens(&translated.chat);
    Ok(WithHeaders::new(TokenCountReply { input_tokens }))
}

fn to_messages_request(request: TokenCountRequest) -> MessagesRequest {
    MessagesRequest {
        model: request.model,
        messages: request.messages,
        max_tokens: 1,
        system: request.system,
        tools: request.tools,
        tool_choice: request.tool_choice,
        thinking: request.thinking,
        output_config: request.output_config,
        output_format: request.output_format,
        stop_sequences: None,
        temperature: None,
        top_p: None,
        top_k: None,
        stream: None,
        cache_control: None,
        metadata: None,
        mcp_servers: request.mcp_servers,
    }
}
