//! A whole answer in the response's form.

use engine::ChatChoice;
use http_frame::paid_chat::PaidAnswer;
use http_frame::payment;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use wire::chat::{
    AnswerText, CalledFunction, ChatCompletion, ChatCompletionChoice, CompletionMessage,
    CompletionRole, CompletionToolCall, EffectiveParameters, FinishReason, StopReason, ToolKind,
    WebSearchCitation,
};

use super::{encrypted_reasoning, think_filter};
use crate::endpoints::citations;

/// The fields common to all chunks of one answer.
#[derive(Debug, Clone)]
pub(super) struct ChatChunkHead {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) model: String,
}

pub(super) fn build_completion(
    frame: ChatChunkHead,
    answered: PaidAnswer,
    parameters: EffectiveParameters,
) -> ChatCompletion {
    let strips = parameters.strip_thinking_response || parameters.disable_thinking;
    let sources = &parameters.web_search_citations;
    let documents = parameters.return_search_results_as_documents && !sources.is_empty();
    let documents = documents.then(|| citations::encode_documents(sources));
    let choices = answered.answer.choices.into_iter().map(|choice| {
        let mut choice = to_wire_choice(choice, strips, sources);
        if let Some(documents) = &documents {
            choice.message.tool_calls.insert(0, document_call(&frame.id, documents));
        }
        choice
    });
    let choices = choices.collect();
    ChatCompletion {
        id: frame.id,
        object: "chat.completion",
        created: frame.created,
        model: answered.model.id.clone(),
        choices,
        prompt_logprobs: answered.answer.prompt_logprobs,
        usage: payment::token_usage(answered.settled.usage),
        cost: payment::to_cost(&answered.settled.receipt),
        service_parameters: parameters,
    }
}

pub(super) fn finish_reason(finish: engine::FinishReason) -> FinishReason {
    match finish {
        engine::FinishReason::Stop => FinishReason::Stop,
        engine::FinishReason::Length => FinishReason::Length,
        engine::FinishReason::ToolCalls => FinishReason::ToolCalls,
        engine::FinishReason::ContentFilter => FinishReason::ContentFilter,
        engine::FinishReason::FunctionCall => FinishReason::FunctionCall,
    }
}

/// The value of `stop_reason`: only for texts that ended by themselves or were cut.
fn stop_reason(finish: engine::FinishReason) -> Option<StopReason> {
    match finish {
        engine::FinishReason::Stop => Some(StopReason::Stop),
        engine::FinishReason::Length => Some(StopReason::Length),
        engine::FinishReason::ToolCalls
        | engine::FinishReason::ContentFilter
        | engine::FinishReason::FunctionCall => None,
    }
}

/// Copies the record of the first token next to the list of all, where some clients look for it.
fn with_first_token(logprobs: Box<RawValue>) -> Box<RawValue> {
    let Ok(mut all) = serde_json::from_str::<Map<String, Value>>(logprobs.get()) else {
        return logprobs;
    };
    let first = all.get("content").and_then(|content| content.get(0)).cloned();
    let Some(Value::Object(first)) = first else { return logprobs };
    for name in ["token", "logprob", "bytes", "top_logprobs"] {
        if let Some(value) = first.get(name) {
            all.insert(name.to_owned(), value.clone());
        }
    }
    to_raw_value(&all).unwrap_or(logprobs)
}

/// The web results, as a tool call that was already carried out.
fn document_call(id: &str, documents: &str) -> CompletionToolCall {
    CompletionToolCall {
        id: format!("call_{id}"),
        kind: ToolKind::Function,
        function: CalledFunction {
            name: citations::DOCUMENTS.to_owned(),
            arguments: documents.to_owned(),
        },
        extra: Default::default(),
    }
}

fn to_wire_choice(
    choice: ChatChoice,
    strips: bool,
    sources: &[WebSearchCitation],
) -> ChatCompletionChoice {
    let annotations =
        choice.content.as_deref().map(|text| citations::find_annotations(text, sources));
    let hidden = encrypted_reasoning::build_placeholder(
        choice.reasoning.as_deref(),
        choice.reasoning_details.as_deref(),
    );
    let content = match (choice.content, choice.verbatim) {
        (Some(text), _) if strips => Some(AnswerText::Text(think_filter::strip_thoughts(&text))),
        (Some(_), Some(verbatim)) => Some(AnswerText::Written(verbatim)),
        (text, _) => text.map(AnswerText::Text),
    };
    let tool_calls = choice.tool_calls.into_iter().map(|call| CompletionToolCall {
        id: call.id,
        kind: ToolKind::Function,
        function: CalledFunction { name: call.name, arguments: call.arguments },
        extra: call.extra,
    });
    ChatCompletionChoice {
        index: choice.index,
        finish_reason: finish_reason(choice.finish),
        logprobs: choice.logprobs.map(with_first_token),
        message: CompletionMessage {
            role: CompletionRole::Assistant,
            content,
            name: None,
            // Reasoning in separate fields is removed along with that in the text.
            reasoning_content: hidden.or(choice.reasoning).filter(|_| !strips),
            reasoning_details: choice.reasoning_details.filter(|_| !strips),
            thought_signature: choice.thought_signature,
            refusal: choice.refusal,
            tool_calls: tool_calls.collect(),
            tool_call_id: None,
            annotations: annotations.unwrap_or_default(),
        },
        stop_reason: stop_reason(choice.finish),
    }
}
