//! One cell of an export, and its JSON encoding.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use uuid::Uuid;

use super::tables::ColumnKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Empty,
    Id(Uuid),
    Number(i64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn into_json(self) -> Json {
        match self {
            Value::Empty => Json::Null,
            Value::Id(id) => Json::String(id.hyphenated().to_string()),
            Value::Number(number) => Json::from(number),
            Value::Flag(flag) => Json::Bool(flag),
            Value::Text(text) => Json::String(text),
            Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        }
    }

    /// None if it is not of that kind.
    pub(super) fn from_json(json: Json, kind: ColumnKind) -> Option<Value> {
        Some(match (json, kind) {
            (Json::Null, _) => Value::Empty,
            (Json::String(text), ColumnKind::Id) => Value::Id(Uuid::try_parse(&text).ok()?),
            (Json::Number(number), ColumnKind::Number) => Value::Number(number.as_i64()?),
            (Json::Bool(flag), ColumnKind::Flag) => Value::Flag(flag),
            (Json::String(text), ColumnKind::Text) => Value::Text(text),
            (Json::String(text), ColumnKind::Bytes) => Value::Bytes(STANDARD.decode(text).ok()?),
            _ => return None,
        })
    }

    /// The text of a text cell.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn id(&self) -> Option<Uuid> {
        match self {
            Value::Id(id) => Some(*id),
            _ => None,
        }
    }
}
