//! `POST /messages/count_tokens`: counts the tokens of a prompt, for free: exactly where the model's
//! engine can, and else by the estimate that holds use.

use std::sync::Arc;
use std::time::Duration;

use domain::catalogue::{CatalogueModel, ModelType};
use domain::limits::tiers::LimitClass;
use engine::ChatRequest;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use wire::messages::{MessagesRequest, TokenCountReply, TokenCountRequest};

use super::mcp::is_tool_set;
use super::request::translate_request;
use super::thinking_seal::ThinkingSeal;
use super::{capability_checks, choose_policy, find_runnable_tools};
use crate::endpoints::messages::body::MessagesBody;

/// Clients count while a person waits; a late count is worth less than an estimate.
const COUNT_TIME_MAX: Duration = Duration::from_secs(3);

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/messages/count_tokens", count_tokens)
        .tag("Chat")
        .summary("Count the tokens of a prompt")
        .limit(LimitClass::TokenCount)
        .failures_uncounted()
        .refuses(403, "The model is not available in the caller's country, or to its key")
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
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
    let estimate = engine::prompt_tokens(&translated.chat);
    let exact = count_exactly(&app, model, translated.chat).await?;
    let input_tokens = exact.unwrap_or(estimate);
    Ok(WithHeaders::new(TokenCountReply { input_tokens }))
}

/// The count of the model's engine; None if it cannot count, or not soon.
async fn count_exactly(
    app: &AppState,
    model: &Arc<CatalogueModel>,
    mut chat: ChatRequest,
) -> Result<Option<u64>, Refusal> {
    let engine = app.engines.chat(model)?;
    if let Some(text) = model.text_spec() {
        capability_checks::drop_unsupported(&mut chat, text);
    }
    let counted = tokio::time::timeout(COUNT_TIME_MAX, engine.count_prompt(Arc::new(chat))).await;
    Ok(counted.unwrap_or_default())
}

fn to_messages_request(mut request: TokenCountRequest) -> MessagesRequest {
    if let Some(tools) = &mut request.tools {
        tools.retain(|tool| !is_tool_set(tool));
    }
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
        mcp_servers: None,
    }
}
