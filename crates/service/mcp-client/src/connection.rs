//! A connection to one server: its generation is found, its tools are listed and called.
//!
//! The caller bounds the time of each operation.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

use crate::call_outcome::McpCallOutcome;
use crate::connector::{McpBody, McpConnector, McpPost, McpReply};
use crate::event_reader::EventReader;
use crate::fault::McpFault;
use crate::generation::{SESSION_HEADER, ServerGeneration, build_handshake, into_object};
use crate::message::{
    RequestNumber, ServerMessage, read_error_detail, read_message, write_notification,
    write_request,
};
use crate::tool::{McpTool, McpToolFilter, ToolListReader};
use crate::{ARGUMENT_BYTES_MAX, LIST_BYTES_MAX, LIST_PAGES_MAX, REPLY_BYTES_MAX};

/// Bytes of the body of a failure that are read for its message.
const DETAIL_BYTES_MAX: usize = 16 * 1024;

/// A connection to a server whose generation is known.
pub struct McpConnection {
    connector: Arc<dyn McpConnector>,
    generation: ServerGeneration,
    last_number: RequestNumber,
}

/// A result with the size of the answer and the session that it began.
struct AnsweredRequest {
    result: Value,
    bytes: usize,
    session: Option<HeaderValue>,
}

/// A request of the protocol.
struct ServerRequest<'a> {
    method: &'a str,
    params: Map<String, Value>,
    headers: HeaderMap,
}

impl McpConnection {
    /// Finds the generation of the server: servers whose requests stand alone disclose their
    /// versions, all others want a handshake.
    pub async fn open(connector: Arc<dyn McpConnector>) -> Result<McpConnection, McpFault> {
        let (generation, last_number) = (ServerGeneration::Stateless, 0);
        let mut connection = McpConnection { connector, generation, last_number };
        let discovered = connection.request("server/discover", Map::new(), None).await;
        let found = match discovered {
            Ok(answered) => ServerGeneration::from_discovery(&answered.result),
            Err(fault) if fault.may_be_older_server() => None,
            Err(fault) => return Err(fault),
        };
        match found {
            Some(generation) => connection.generation = generation,
            None => connection.shake_hands().await?,
        }
        Ok(connection)
    }

    async fn shake_hands(&mut self) -> Result<(), McpFault> {
        self.generation = ServerGeneration::Unknown;
        let answered = self.request("initialize", build_handshake(), None).await?;
        let generation = ServerGeneration::from_handshake(&answered.result, answered.session);
        self.generation = generation.ok_or(McpFault::Version)?;
        let method = "notifications/initialized";
        let headers = self.generation.build_headers(method, None);
        let reply = self.post(write_notification(method), headers).await?;
        check_status(reply).await.map(|_| ())
    }

    /// The tools that the filter allows.
    pub async fn list_tools(&mut self, filter: &McpToolFilter) -> Result<Vec<McpTool>, McpFault> {
        let (mut list, mut bytes) = (ToolListReader::default(), 0_usize);
        let mut params = Map::new();
        for _ in 0..LIST_PAGES_MAX {
            let answered = self.request("tools/list", params, None).await?;
            bytes = bytes.saturating_add(answered.bytes);
            if LIST_BYTES_MAX < bytes {
                return Err(McpFault::TooLarge(LIST_BYTES_MAX));
            }
            match list.read_page(answered.result, filter)? {
                Some(cursor) => params = into_object(json!({ "cursor": cursor })),
                None => return Ok(list.into_tools()),
            }
        }
        Err(McpFault::TooManyTools)
    }

    /// Calls a tool with arguments as a model wrote them.
    pub async fn call_tool(
        &mut self,
        tool: &McpTool,
        arguments: &str,
    ) -> Result<McpCallOutcome, McpFault> {
        let arguments = read_arguments(arguments)?;
        let params = into_object(json!({ "name": tool.name, "arguments": arguments }));
        let answered = self.request("tools/call", params, Some((tool, &arguments))).await?;
        McpCallOutcome::from_result(&answered.result)
    }

    async fn request(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        tool: Option<(&McpTool, &Map<String, Value>)>,
    ) -> Result<AnsweredRequest, McpFault> {
        let params = self.generation.complete_params(params);
        let headers = self.generation.build_headers(method, tool);
        self.send_request(ServerRequest { method, params, headers }).await
    }

    async fn send_request(
        &mut self,
        ServerRequest { method, params, headers }: ServerRequest<'_>,
    ) -> Result<AnsweredRequest, McpFault> {
        self.last_number += 1;
        let number = self.last_number;
        let reply = self.post(write_request(number, method, params), headers).await?;
        let reply = check_status(reply).await?;
        let session = reply.headers.get(SESSION_HEADER).cloned();
        let (result, bytes) = read_reply(reply, number).await?;
        Ok(AnsweredRequest { result, bytes, session })
    }

    async fn post(&self, body: String, headers: HeaderMap) -> Result<McpReply, McpFault> {
        self.connector.send_post(McpPost { headers, body: Bytes::from(body) }).await
    }
}

/// The arguments of a call, which some models leave empty.
fn read_arguments(arguments: &str) -> Result<Map<String, Value>, McpFault> {
    if ARGUMENT_BYTES_MAX < arguments.len() {
        return Err(McpFault::LargeArguments);
    }
    if arguments.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        _ => Err(McpFault::InvalidArguments),
    }
}

/// The answer, if its status is one of a success.
async fn check_status(mut reply: McpReply) -> Result<McpReply, McpFault> {
    match reply.status {
        200..=299 => Ok(reply),
        300..=399 => Err(McpFault::Redirected),
        status @ (401 | 403) => Err(McpFault::Unauthorized(status)),
        status => {
            let body = read_whole(reply.body.as_mut(), DETAIL_BYTES_MAX).await;
            let detail = body.ok().and_then(|body| read_error_detail(&body));
            Err(McpFault::Status { status, detail })
        }
    }
}

/// The answer to a request, with the number of bytes that were read.
async fn read_reply(
    mut reply: McpReply,
    number: RequestNumber,
) -> Result<(Value, usize), McpFault> {
    let media_type = reply.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
    if essence.trim().eq_ignore_ascii_case("text/event-stream") {
        return read_events(reply.body.as_mut(), number).await;
    }
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(McpFault::MediaType);
    }
    let body = read_whole(reply.body.as_mut(), REPLY_BYTES_MAX).await?;
    match read_message(&body, number)? {
        ServerMessage::Answer(result) => Ok((result?, body.len())),
        ServerMessage::Other => Err(McpFault::WrongId),
    }
}

/// Reads events until the answer comes. The rest of the stream is not read.
async fn read_events(
    body: &mut dyn McpBody,
    number: RequestNumber,
) -> Result<(Value, usize), McpFault> {
    let (mut events, mut bytes) = (EventReader::default(), 0_usize);
    while let Some(piece) = body.next_piece().await? {
        bytes = bytes.saturating_add(piece.len());
        if REPLY_BYTES_MAX < bytes {
            return Err(McpFault::TooLarge(REPLY_BYTES_MAX));
        }
        for data in events.push(&piece) {
            // Servers begin streams with empty events, so that clients learn their ids.
            if data.is_empty() {
                continue;
            }
            if let ServerMessage::Answer(result) = read_message(&data, number)? {
                return Ok((result?, bytes));
            }
        }
    }
    Err(McpFault::NoAnswer)
}

async fn read_whole(body: &mut dyn McpBody, bytes_max: usize) -> Result<Bytes, McpFault> {
    let mut whole = BytesMut::new();
    while let Some(piece) = body.next_piece().await? {
        if bytes_max < whole.len() + piece.len() {
            return Err(McpFault::TooLarge(bytes_max));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

#[cfg(test)]
mod tests;
