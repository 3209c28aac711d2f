//! Gathers one turn of a model from the chunks of a stream.

use std::collections::BTreeMap;

use engine::{
    AssistantTurn, ChatChunk, ChatContent, ChoiceDelta, FinishReason, ToolCall, ToolCallDelta,
};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A complete turn of a model.
#[derive(Debug)]
pub struct ModelTurn {
    /// The turn without its calls.
    pub message: AssistantTurn,
    /// The calls, by the engine's number.
    pub calls: Vec<TurnCall>,
    pub finish: FinishReason,
}

#[derive(Debug, Clone)]
pub struct TurnCall {
    pub number: u32,
    /// The id is empty if the engine gave none.
    pub call: ToolCall,
}

#[derive(Debug, Default)]
pub(super) struct TurnGatherer {
    text: String,
    reasoning: String,
    details: Vec<Value>,
    signature: Option<String>,
    calls: BTreeMap<u32, ToolCall>,
    finish: Option<FinishReason>,
}

impl TurnGatherer {
    pub(super) fn push(&mut self, chunk: &ChatChunk) {
        for delta in chunk.deltas.iter().filter(|delta| delta.index == 0) {
            self.push_delta(delta);
        }
    }

    fn push_delta(&mut self, delta: &ChoiceDelta) {
        self.text.push_str(&delta.content);
        self.text.push_str(&delta.refusal);
        self.reasoning.push_str(&delta.reasoning);
        if let Some(details) = &delta.reasoning_details {
            self.push_details(details);
        }
        self.signature = delta.thought_signature.clone().or(self.signature.take());
        self.finish = delta.finish.or(self.finish);
        for call in &delta.tool_calls {
            self.push_call(call);
        }
    }

    fn push_call(&mut self, delta: &ToolCallDelta) {
        let call = self.calls.entry(delta.index).or_insert_with(|| ToolCall {
            id: delta.id.clone().unwrap_or_default(),
            name: delta.name.clone(),
            arguments: String::new(),
            extra: delta.extra.clone(),
        });
        call.arguments.push_str(&delta.arguments);
    }

    /// Adds signed or encrypted blocks. The pieces of one block follow each other.
    fn push_details(&mut self, details: &RawValue) {
        let pieces: Vec<Value> = serde_json::from_str(details.get()).unwrap_or_default();
        for piece in pieces {
            let is_same = |last: &Value| {
                ["type", "index", "id"].iter().all(|name| last[*name] == piece[*name])
                    && piece["type"] != "reasoning.encrypted"
            };
            match self.details.last_mut().filter(|last| is_same(last)) {
                Some(last) => append_piece(last, piece),
                None => self.details.push(piece),
            }
        }
    }

    pub(super) fn into_turn(self) -> ModelTurn {
        let text = |text: String| Some(text).filter(|text| !text.is_empty());
        let details = (!self.details.is_empty()).then(|| to_raw_value(&self.details).ok());
        let message = AssistantTurn {
            content: text(self.text).map(ChatContent::Text),
            reasoning: text(self.reasoning),
            reasoning_details: details.flatten(),
            thought_signature: self.signature,
            ..AssistantTurn::default()
        };
        let calls = self.calls.into_iter().map(|(number, call)| TurnCall { number, call });
        let finish = self.finish.unwrap_or(FinishReason::Stop);
        ModelTurn { message, calls: calls.collect(), finish }
    }
}

/// Adds the texts of a piece to its block. Other members, such as a signature, are set.
fn append_piece(block: &mut Value, piece: Value) {
    let (Value::Object(block), Value::Object(piece)) = (block, piece) else { return };
    for (name, value) in piece {
        match (block.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => {
                block.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_gathered_from_interleaved_pieces() {
        let call = |index, id: Option<&str>, name: &str, arguments: &str| ToolCallDelta {
            index,
            id: id.map(str::to_owned),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            ..ToolCallDelta::default()
        };
        let mut gatherer = TurnGatherer::default();
        for tool_calls in [
            vec![call(1, Some("b"), "second", "{\"x\"")],
            vec![call(0, None, "first", "{}"), call(1, None, "", ":1}")],
        ] {
            let delta = ChoiceDelta { tool_calls, content: "a".to_owned(), ..Default::default() };
            let other = ChoiceDelta { index: 1, content: "no".to_owned(), ..Default::default() };
            gatherer.push(&ChatChunk { deltas: vec![delta, other], ..ChatChunk::default() });
        }
        let turn = gatherer.into_turn();
        assert!(matches!(&turn.message.content, Some(ChatContent::Text(text)) if text == "aa"));
        let calls: Vec<(u32, &str, &str, &str)> = turn
            .calls
            .iter()
            .map(|TurnCall { number, call }| {
                (*number, call.id.as_str(), call.name.as_str(), call.arguments.as_str())
            })
            .collect();
        assert_eq!(calls, [(0, "", "first", "{}"), (1, "b", "second", "{\"x\":1}")]);
    }
}
