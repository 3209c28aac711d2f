//! Formats events and answers as short lines, for comparison.

use engine::{ChatAnswer, ChatChoice, ChatChunk, ChatEvent, ChoiceDelta, EngineError, EngineUsage};

pub(super) fn events(events: &[ChatEvent], outcome: &Result<(), EngineError>) -> String {
    let mut lines: Vec<String> = events.iter().map(event).collect();
    lines.push(match outcome {
        Ok(()) => "end".to_owned(),
        Err(error) => self::error(error),
    });
    lines.join("\n") + "\n"
}

/// Adds the message for the caller, which `Display` leaves out.
pub(super) fn error(error: &EngineError) -> String {
    match error {
        EngineError::Rejected { message }
        | EngineError::ContextOverflow { message }
        | EngineError::ContentPolicy { message } => format!("error: {error}: {message}"),
        _ => format!("error: {error}"),
    }
}

pub(super) fn event(event: &ChatEvent) -> String {
    match event {
        ChatEvent::Served(served) => format!("served by {}", served.provider),
        ChatEvent::UpstreamId(id) => format!("id {id}"),
        ChatEvent::Chunk(chunk) => self::chunk(chunk),
        ChatEvent::Progress(usage) => format!("so far {}", self::usage(*usage)),
        ChatEvent::Usage(usage) => format!("usage {}", self::usage(*usage)),
    }
}

pub(super) fn answer(answer: &ChatAnswer) -> String {
    let mut lines = vec![format!("id {:?}", answer.upstream_id)];
    lines.extend(answer.choices.iter().map(choice));
    lines.extend(answer.usage.map(|it| format!("usage {}", usage(it))));
    lines.join("\n") + "\n"
}

pub(super) fn usage(usage: EngineUsage) -> String {
    format!(
        "prompt {} (cached {}, written {}) completion {} (reasoning {})",
        usage.prompt(),
        usage.cached(),
        usage.cache_creation(),
        usage.completion(),
        usage.reasoning()
    )
}

fn chunk(chunk: &ChatChunk) -> String {
    let deltas: Vec<String> = chunk.deltas.iter().map(delta).collect();
    let how = if chunk.verbatim.is_some() { "verbatim" } else { "rewritten" };
    format!("{how} {}", deltas.join(" | "))
}

fn delta(delta: &ChoiceDelta) -> String {
    let mut words = vec![format!("[{}]", delta.index)];
    if delta.opens {
        words.push("opens".to_owned());
    }
    for (name, text) in
        [("content", &delta.content), ("reasoning", &delta.reasoning), ("refusal", &delta.refusal)]
    {
        if !text.is_empty() {
            words.push(format!("{name} {text:?}"));
        }
    }
    for call in &delta.tool_calls {
        let (index, id, name, arguments) = (call.index, &call.id, &call.name, &call.arguments);
        words.push(format!("call {index} id {id:?} name {name:?} arguments {arguments:?}"));
        if !call.extra.is_empty() {
            words.push(format!("extra {:?}", call.extra));
        }
    }
    words.extend(delta.reasoning_details.iter().map(|it| format!("details {it}")));
    words.extend(delta.thought_signature.iter().map(|it| format!("signature {it}")));
    words.extend(delta.logprobs.iter().map(|it| format!("logprobs {it}")));
    words.extend(delta.finish.iter().map(|it| format!("finish {}", it.as_str())));
    words.extend(delta.stop_match.iter().map(|it| format!("stop match {it:?}")));
    words.join(" ")
}

fn choice(choice: &ChatChoice) -> String {
    let mut words = vec![format!("[{}] finish {}", choice.index, choice.finish.as_str())];
    for (name, text) in [
        ("content", &choice.content),
        ("reasoning", &choice.reasoning),
        ("refusal", &choice.refusal),
        ("signature", &choice.thought_signature),
    ] {
        words.extend(text.iter().map(|text| format!("{name} {text:?}")));
    }
    words.extend(choice.stop_match.iter().map(|it| format!("stop match {it:?}")));
    words.extend(choice.tool_calls.iter().map(|call| format!("{call:?}")));
    words.extend(choice.reasoning_details.iter().map(|it| format!("details {it}")));
    words.extend(choice.logprobs.iter().map(|it| format!("logprobs {it}")));
    words.join("\n  ")
}
