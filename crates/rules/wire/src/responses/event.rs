//! One event of a streamed response.

use serde::Serialize;

use super::{OutputItem, OutputPart, Response, SummaryPart};

/// A stream event. Events of a stream are numbered from zero without gaps.
#[derive(Debug, Serialize)]
pub struct ResponseEvent<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub sequence_number: u64,
    #[serde(flatten)]
    pub body: EventBody<'a>,
}

/// The payload of an event.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum EventBody<'a> {
    Response {
        response: &'a Response,
    },
    Item {
        output_index: usize,
        item: &'a OutputItem,
    },
    Part {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        part: &'a OutputPart,
    },
    TextDelta {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        delta: &'a str,
    },
    TextDone {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        text: &'a str,
    },
    RefusalDone {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        refusal: &'a str,
    },
    Summary {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        part: &'a SummaryPart,
    },
    SummaryDelta {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        delta: &'a str,
    },
    SummaryDone {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        text: &'a str,
    },
    Delta {
        item_id: &'a str,
        output_index: usize,
        delta: &'a str,
    },
    /// A step of an item that the service works on.
    Step {
        item_id: &'a str,
        output_index: usize,
    },
    McpArgumentsDone {
        item_id: &'a str,
        output_index: usize,
        arguments: &'a str,
    },
    InputDone {
        item_id: &'a str,
        output_index: usize,
        input: &'a str,
    },
    ArgumentsDone {
        item_id: &'a str,
        output_index: usize,
        name: &'a str,
        arguments: &'a str,
    },
}
