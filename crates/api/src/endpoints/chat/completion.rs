//! A whole answer in the words of the specification.

use engine::Choice;
use wire::chat::{
    AnswerText, CalledFunction, ChatCompletion, ChatCompletionChoice, CompletionMessage,
    CompletionRole, CompletionToolCall, EffectiveParameters, FinishReason, ToolKind,
};

use super::teller::Frame;
use super::thoughts;
use crate::paid_chat::Answered;
use crate::payment;

pub(super) fn completion(
    frame: Frame,
    answered: Answered,
    parameters: EffectiveParameters,
) -> ChatCompletion {
    let strips = parameters.strip_thinking_response || parameters.disable_thinking;
    let choices = answered.answer.choices.into_iter().map(|choice| of_choice(choice, strips));
    ChatCompletion {
        id: frame.id,
        object: "chat.completion",
        created: frame.created,
        model: answered.model.id.clone(),
        choices: choices.collect(),
        usage: payment::token_usage(answered.settled.usage),
        cost: payment::cost(&answered.settled.receipt),
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

fn of_choice(choice: Choice, strips: bool) -> ChatCompletionChoice {
    let content = match (choice.content, choice.verbatim) {
        (Some(text), _) if strips => Some(AnswerText::Text(thoughts::strip(&text))),
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
        logprobs: choice.logprobs,
        message: CompletionMessage {
            role: CompletionRole::Assistant,
            content,
            reasoning_content: choice.reasoning,
            reasoning_details: choice.reasoning_details,
            thought_signature: choice.thought_signature,
            refusal: choice.refusal,
            tool_calls: tool_calls.collect(),
        },
        stop_reason: None,
    }
}
