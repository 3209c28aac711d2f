//! Parses one JSON value, or a bounded array of them, without changing the bytes of any item.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Debug)]
pub(crate) enum RawJsonValues<'a> {
    One(&'a RawValue),
    /// An array: its first items, and its total number of items.
    Many {
        kept: Vec<&'a RawValue>,
        count: usize,
    },
}

/// Parses the whole text, but keeps at most `keep_max` items of an array, so that a long array of
/// small items cannot take many times its own size in memory.
pub(crate) fn parse_values(
    text: &[u8],
    keep_max: usize,
) -> Result<RawJsonValues<'_>, serde_json::Error> {
    let is_array = text.trim_ascii_start().first() == Some(&b'[');
    if !is_array {
        return serde_json::from_slice(text).map(RawJsonValues::One);
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let values = FirstItems { keep_max }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(values)
}

/// Deserializes a member that is present, so that `null` differs from a missing member.
pub(crate) fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

struct FirstItems {
    keep_max: usize,
}

impl<'de> DeserializeSeed<'de> for FirstItems {
    type Value = RawJsonValues<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<RawJsonValues<'de>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FirstItems {
    type Value = RawJsonValues<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawJsonValues<'de>, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < self.keep_max {
            let Some(item) = items.next_element()? else {
                let count = kept.len();
                return Ok(RawJsonValues::Many { kept, count });
            };
            kept.push(item);
        }
        let mut count = kept.len();
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(RawJsonValues::Many { kept, count })
    }
}
