//! Encodes the reasoning effort in each server's terms.

use engine::{EffortLevel, ReasoningParameters};
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
    pub(super) fn from_options(
        asked: &ReasoningParameters,
        style: ReasoningStyle,
    ) -> ReasoningBody {
        if *asked == ReasoningParameters::default() {
            return ReasoningBody::default();
        }
        let effort = if asked.is_off() { Some(EffortLevel::None) } else { asked.effort };
        match style {
            ReasoningStyle::Effort => ReasoningBody {
                // OpenAI's scale ends one level below ours.
                reasoning_effort: effort.map(|it| it.min(EffortLevel::ExtraHigh).as_str()),
                ..ReasoningBody::default()
            },
            ReasoningStyle::Steps => ReasoningBody {
                reasoning_effort: effort.map(|it| three_level_effort(it).unwrap_or("none")),
                ..ReasoningBody::default()
            },
            ReasoningStyle::Object => ReasoningBody {
                reasoning: encode_reasoning(asked, effort),
                ..ReasoningBody::default()
            },
            ReasoningStyle::Template => ReasoningBody {
                reasoning_effort: effort.and_then(three_level_effort),
                chat_template_kwargs: encode_thinking_switch(asked),
                ..ReasoningBody::default()
            },
        }
    }
}

/// `summary` belongs to `/responses` and is never sent in a chat.
fn encode_reasoning(asked: &ReasoningParameters, effort: Option<EffortLevel>) -> Option<Value> {
    let mut object = serde_json::Map::new();
    if let Some(effort) = effort {
        object.insert("effort".to_owned(), json!(effort.as_str()));
    }
    if let Some(enabled) = asked.enabled {
        object.insert("enabled".to_owned(), json!(enabled));
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

/// Open models have three levels; finer ones are mapped to the nearest.
fn three_level_effort(effort: EffortLevel) -> Option<&'static str> {
    match effort {
        EffortLevel::None => None,
        EffortLevel::Minimal | EffortLevel::Low => Some("low"),
        EffortLevel::Medium => Some("medium"),
        EffortLevel::High | EffortLevel::ExtraHigh | EffortLevel::Max => Some("high"),
    }
}

fn encode_thinking_switch(asked: &ReasoningParameters) -> Option<Value> {
    if asked.is_off() {
        return Some(json!({"enable_thinking": false}));
    }
    asked.enabled.map(|_| json!({"enable_thinking": true}))
}
