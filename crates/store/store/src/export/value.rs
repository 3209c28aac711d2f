//! One cell of an export, and its JSON encoding.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use uuid::Uuid;

use super::tables::ColumnKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportValue {
    Empty,
    Id(Uuid),
    Number(i64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
}

impl ExportValue {
    pub(super) fn into_json(self) -> Json {
        match self {
            ExportValue::Empty => Json::Null,
            ExportValue::Id(id) => Json::String(id.hyphenated().to_string()),
            ExportValue::Number(number) => Json::from(number),
            ExportValue::Flag(flag) => Json::Bool(flag),
            ExportValue::Text(text) => Json::String(text),
            ExportValue::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        }
    }

    /// None if it is not of that kind.
    pub(super) fn from_json(json: Json, kind: ColumnKind) -> Option<ExportValue> {
        Some(match (json, kind) {
            (Json::Null, _) => ExportValue::Empty,
            (Json::String(text), ColumnKind::Id) => ExportValue::Id(Uuid::try_parse(&text).ok()?),
            (Json::Number(number), ColumnKind::Number) => ExportValue::Number(number.as_i64()?),
            (Json::Bool(flag), ColumnKind::Flag) => ExportValue::Flag(flag),
            (Json::String(text), ColumnKind::Text) => ExportValue::Text(text),
            (Json::String(text), ColumnKind::Bytes) => {
                ExportValue::Bytes(STANDARD.decode(text).ok()?)
            }
            _ => return None,
        })
    }

    /// The text of a text cell.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ExportValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_id(&self) -> Option<Uuid> {
        match self {
            ExportValue::Id(id) => Some(*id),
            _ => None,
        }
    }
}
