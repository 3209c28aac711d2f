//! One output item of a response, in progress or completed.

use std::sync::Arc;

use wire::chat::{Annotation, CompletionRole, UrlCitation, WebSearchCitation};
use wire::responses::{
    ItemStatus, OutputItem, OutputPart, ResponseAnnotation, SearchAction, SummaryPart,
};

use crate::endpoints::citations;

#[derive(Debug)]
pub(super) struct OutputItemState {
    pub(super) id: String,
    pub(super) kind: OutputItemKind,
    /// The reasoning, the text, the search query, or the arguments of a call.
    pub(super) text: String,
    pub(super) status: ItemStatus,
    /// Sources that a text may cite.
    pub(super) sources: Arc<[WebSearchCitation]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutputItemKind {
    /// A web search; the text is its query.
    Search,
    Reasoning,
    Text,
    Refusal,
    Call {
        call_id: String,
        name: String,
    },
}

impl OutputItemKind {
    /// Prefix of the ids of such items.
    pub(super) fn id_prefix(&self) -> &'static str {
        match self {
            OutputItemKind::Search => "ws",
            OutputItemKind::Reasoning => "rs",
            OutputItemKind::Text | OutputItemKind::Refusal => "msg",
            OutputItemKind::Call { .. } => "fc",
        }
    }
}

impl OutputItemState {
    /// The item in the response's form. A message in progress has no content yet.
    pub(super) fn to_output_item(&self) -> OutputItem {
        let id = self.id.clone();
        match &self.kind {
            OutputItemKind::Reasoning => {
                let summary = SummaryPart::SummaryText { text: self.text.clone() };
                let summary = if self.text.is_empty() { Vec::new() } else { vec![summary] };
                OutputItem::Reasoning { id, summary }
            }
            OutputItemKind::Search => OutputItem::WebSearchCall {
                id,
                status: self.status,
                action: SearchAction::Search { query: self.text.clone() },
            },
            OutputItemKind::Call { call_id, name } => OutputItem::FunctionCall {
                id,
                call_id: call_id.clone(),
                name: name.clone(),
                arguments: self.text.clone(),
                status: self.status,
            },
            OutputItemKind::Text | OutputItemKind::Refusal => OutputItem::Message {
                id,
                status: self.status,
                role: CompletionRole::Assistant,
                content: match self.status {
                    ItemStatus::InProgress => Vec::new(),
                    ItemStatus::Completed | ItemStatus::Incomplete => {
                        self.to_output_part().into_iter().collect()
                    }
                },
            },
        }
    }

    /// The only part of a message; None for other items.
    pub(super) fn to_output_part(&self) -> Option<OutputPart> {
        let text = self.text.clone();
        match &self.kind {
            OutputItemKind::Text => {
                let cited = citations::find_annotations(&text, &self.sources).into_iter();
                Some(OutputPart::OutputText {
                    annotations: cited.map(to_response_annotation).collect(),
                    text,
                })
            }
            OutputItemKind::Refusal => Some(OutputPart::Refusal { refusal: text }),
            OutputItemKind::Search | OutputItemKind::Reasoning | OutputItemKind::Call { .. } => {
                None
            }
        }
    }
}

fn to_response_annotation(Annotation { url_citation, .. }: Annotation) -> ResponseAnnotation {
    let UrlCitation { start_index, end_index, title, url } = url_citation;
    ResponseAnnotation::UrlCitation { start_index, end_index, title, url }
}
