//! Encodes the reasoning effort in each server's terms.

use engine::{Effort, Reasoning};
use serde::Serialize;
use serde_json::{Value, json};

use crate::quirks::ReasoningStyle;

#[derive(Serialize, Default)]
pub(super) struct ReasoningBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Value>,
}

impl ReasoningBody {
    pub(super) fn of(asked: &Reasoning, style: ReasoningStyle) -> ReasoningBody {
        if *asked == Reasoning::default() {
            return ReasoningBody::default();
        }
        let effort = if asked.is_off() { Some(Effort::None) } else { asked.effort };
        match style {
            ReasoningStyle::Effort => ReasoningBody {
                // OpenAI's scale ends one level below ours.
                reasoning_effort: effort.map(|it| it.min(Effort::ExtraHigh).word()),
                ..ReasoningBody::default()
            },
            ReasoningStyle::Steps => ReasoningBody {
                reasoning_effort: effort.map(|it| three_steps(it).unwrap_or("none")),
                ..ReasoningBody::default()
            },
            ReasoningStyle::Object => {
                ReasoningBody { reasoning: object(asked, effort), ..ReasoningBody::default() }
            }
            ReasoningStyle::Template => ReasoningBody {
                reasoning_effort: effort.and_then(three_steps),
                chat_template_kwargs: switch(asked),
                ..ReasoningBody::default()
            },
        }
    }
}

/// `summary` belongs to `/responses` and is never sent in a chat.
fn object(asked: &Reasoning, effort: Option<Effort>) -> Option<Value> {
    let mut object = serde_json::Map::new();
    if let Some(effort) = effort {
        object.insert("effort".to_owned(), json!(effort.word()));
    }
    if let Some(enabled) = asked.enabled {
        object.insert("enabled".to_owned(), json!(enabled));
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

/// Open models have three levels; finer ones are mapped to the nearest.
fn three_steps(effort: Effort) -> Option<&'static str> {
    match effort {
        Effort::None => None,
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High | Effort::ExtraHigh | Effort::Max => Some("high"),
    }
}

fn switch(asked: &Reasoning) -> Option<Value> {
    if asked.is_off() {
        return Some(json!({"enable_thinking": false}));
    }
    asked.enabled.map(|_| json!({"enable_thinking": true}))
}
