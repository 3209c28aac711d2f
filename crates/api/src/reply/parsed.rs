//! The text of a document, as JSON or plain text.

use axum::response::Response;
use schemars::SchemaGenerator;
use wire::augment::ParsedText;

use super::{Reply, WithHeaders, respond};
use crate::operation::Operation;
use crate::refusal::Refusal;

pub(crate) enum Parsed {
    Json(WithHeaders<ParsedText>),
    Text(WithHeaders<String>),
}

impl Reply for Parsed {
    fn into_response(self) -> Result<Response, Refusal> {
        match self {
            Parsed::Json(answer) => answer.into_response(),
            Parsed::Text(answer) => {
                Ok(respond(answer.body.into(), answer.headers, "text/plain; charset=utf-8"))
            }
        }
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.reply::<ParsedText>(generator);
        operation.text_reply("text/plain");
    }
}
