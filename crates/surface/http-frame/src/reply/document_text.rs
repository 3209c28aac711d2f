//! The text of a document, as JSON or plain text.

use axum::response::Response;
use schemars::SchemaGenerator;
use wire::augment::ParsedText;

use super::{HandlerReply, WithHeaders, build_response};
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;

pub enum DocumentTextReply {
    Json(WithHeaders<ParsedText>),
    Text(WithHeaders<String>),
}

impl HandlerReply for DocumentTextReply {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            DocumentTextReply::Json(answer) => answer.into_response(),
            DocumentTextReply::Text(answer) => {
                Ok(build_response(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.reply::<ParsedText>(generator);
        operation.text_reply("text/plain");
    }
}
