//! `POST /mcp`: the endpoints as tools of the Model Context Protocol.
//!
//! Both generations of the protocol are served, without sessions: `initialize` and the requests
//! after it, and since 2026-07-28 requests that each carry their version. A tool is a call of an
//! endpoint of this service, with that endpoint's limits, checks and charges (ADR 58).

mod argument_schema;
mod input;
mod message;
mod multipart_body;
mod protocol;
mod reply;
mod tool_call;
mod tool_payment;
mod tool_result;
mod tools;

use std::sync::Arc;

use access::CredentialHolder;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::inner_call::OuterRequest;
use http_frame::mcp_caller::McpCaller;
use http_frame::refusal::mcp::{INVALID_REQUEST, McpRefusal};
use serde_json::Value;
use wire::mcp::{McpError, McpReply, McpReplyBody};

use self::input::McpInput;
use self::message::{RpcMessage, RpcRequest};
use self::protocol::ProtocolGeneration;
use self::reply::McpResponse;

pub(crate) const PATH: &str = "/mcp";

/// Requests in an array, which protocol version 2025-03-26 allows.
const BATCH_MAX: usize = 16;

/// The state that all messages of one HTTP request share.
struct McpContext {
    app: SharedApp,
    outer: OuterRequest,
    holder: Option<Arc<CredentialHolder>>,
}

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post(PATH, handle_mcp_message)
        .tag("MCP")
        .summary("Call this service's tools with the Model Context Protocol")
        .refuses(404, "The protocol has no such method")
        .refuses(406, "The client does not read JSON")
        .build()
}

async fn handle_mcp_message(
    app: SharedApp,
    call: ApiCall<McpCaller, McpInput>,
) -> Result<McpResponse, McpRefusal> {
    let McpCaller(holder) = call.caller;
    let McpInput { outer, headers, body } = call.input;
    if !headers.accepts_json {
        return Err(McpRefusal::not_acceptable());
    }
    headers.check_version().map_err(|error| McpRefusal::from_error(Value::Null, &error))?;
    let context = McpContext { app, outer, holder };
    let Value::Array(bodies) = body else {
        let message = RpcMessage::parse(body)
            .map_err(|fault| McpRefusal::from_error(fault.id, &fault.error))?;
        let RpcMessage::Request(request) = message else { return Ok(McpResponse::Accepted) };
        let generation = headers
            .find_generation(&request)
            .map_err(|error| McpRefusal::from_error(request.id.clone(), &error))?;
        return context.answer_alone(request, generation).await;
    };
    if !headers.allows_batches() || bodies.is_empty() || BATCH_MAX < bodies.len() {
        let message = format!(
            "Send one message. Version 2025-03-26 of the protocol allows up to {BATCH_MAX} in an \
             array; later ones allow none."
        );
        let error = McpError { code: INVALID_REQUEST, message, data: None };
        return Err(McpRefusal::from_error(Value::Null, &error));
    }
    Ok(context.answer_batch(bodies).await)
}

impl McpContext {
    /// Answers one request. The newer generation has HTTP statuses for faults of the message.
    async fn answer_alone(
        &self,
        request: RpcRequest,
        generation: ProtocolGeneration,
    ) -> Result<McpResponse, McpRefusal> {
        let id = request.id.clone();
        match self.answer_request(request, generation).await {
            Err(error) if generation.has_status_for(&error) => {
                Err(McpRefusal::from_error(id, &error))
            }
            answered => {
                Ok(McpResponse::Body(McpReplyBody::One(Box::new(reply::build_reply(id, answered)))))
            }
        }
    }

    async fn answer_batch(&self, bodies: Vec<Value>) -> McpResponse {
        let mut replies: Vec<McpReply> = Vec::new();
        for body in bodies {
            match RpcMessage::parse(body) {
                Ok(RpcMessage::Request(request)) if request.method == protocol::INITIALIZE => {
                    let message = "`initialize` must not be in an array.".to_owned();
                    let error = McpError { code: INVALID_REQUEST, message, data: None };
                    replies.push(reply::build_reply(request.id, Err(error)));
                }
                Ok(RpcMessage::Request(request)) => {
                    let id = request.id.clone();
                    let answered = self.answer_request(request, ProtocolGeneration::Handshake);
                    replies.push(reply::build_reply(id, answered.await));
                }
                Ok(RpcMessage::Notification | RpcMessage::Response) => {}
                Err(fault) => replies.push(reply::build_reply(fault.id, Err(*fault.error))),
            }
        }
        if replies.is_empty() {
            return McpResponse::Accepted;
        }
        McpResponse::Body(McpReplyBody::Several(replies))
    }

    async fn answer_request(
        &self,
        request: RpcRequest,
        generation: ProtocolGeneration,
    ) -> Result<Value, McpError> {
        let RpcRequest { method, params, .. } = request;
        let result = match (method.as_str(), generation) {
            (protocol::INITIALIZE, _) => protocol::build_initialize_result(&params, self.brand())?,
            ("ping", ProtocolGeneration::Handshake) => Value::Object(serde_json::Map::new()),
            ("server/discover", ProtocolGeneration::Stateless) => protocol::build_discovery(),
            ("tools/list", _) => protocol::build_tool_list(&params, generation)?,
            (protocol::TOOLS_CALL, _) => tool_call::call_tool(self, params).await?.into_value(),
            _ => return Err(message::refuse_method(&method)),
        };
        Ok(generation.finish_result(result, self.brand()))
    }

    /// The operator's name for the service.
    fn brand(&self) -> &str {
        &self.app.settings.brand.name
    }
}
