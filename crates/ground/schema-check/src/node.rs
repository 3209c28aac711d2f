//! A compiled schema: resolved, typed, with compiled patterns.

use hashbrown::HashMap;
use regex::Regex;
use serde_json::{Number, Value};

use crate::fault::{TextRule, quote_value};
use crate::number;

/// The index of a node in its shape's table; references and recursion are indexes too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) usize);

/// One schema object. All its rules apply at once.
#[derive(Debug, Default)]
pub(crate) struct SchemaNode {
    pub(crate) never: bool,
    pub(crate) kinds: Option<JsonTypeSet>,
    /// The JSON types that the node accepts, after its references, parts and branches.
    pub(crate) accepts: JsonTypeSet,
    pub(crate) allowed: Option<Vec<Value>>,
    /// The text `null` in a query string or a form is read as null (`NULL_TEXT`).
    pub(crate) reads_null_text: bool,
    pub(crate) text: StringRules,
    pub(crate) number: NumberBounds,
    pub(crate) array: ArrayRules,
    pub(crate) object: ObjectRules,
    pub(crate) reference: Option<NodeId>,
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) unions: Vec<SchemaUnion>,
    pub(crate) not: Option<NodeId>,
}

#[derive(Debug, Default)]
pub(crate) struct StringRules {
    pub(crate) length: LengthBounds,
    pub(crate) format: Option<TextRule>,
    pub(crate) pattern: Option<CompiledPattern>,
}

#[derive(Debug)]
pub(crate) struct CompiledPattern {
    pub(crate) source: String,
    pub(crate) regex: Regex,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct LengthBounds {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct NumberBounds {
    pub(crate) minimum: Option<Number>,
    pub(crate) exclusive_minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) exclusive_maximum: Option<Number>,
    /// The range of an integer format such as `uint32`. Serde enforces it, so the check must too.
    pub(crate) representable: Option<(Number, Number)>,
    pub(crate) multiple_of: Option<Number>,
}

#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) length: LengthBounds,
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) items: Option<NodeId>,
    pub(crate) unique: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) length: LengthBounds,
    pub(crate) required: Vec<String>,
    pub(crate) properties: HashMap<String, PropertyRule>,
    pub(crate) patterns: Vec<(CompiledPattern, NodeId)>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) names: Option<NodeId>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PropertyRule {
    pub(crate) node: NodeId,
    pub(crate) required: bool,
}

/// `anyOf` or `oneOf`.
#[derive(Debug)]
pub(crate) struct SchemaUnion {
    pub(crate) branches: Vec<NodeId>,
    /// `oneOf`: exactly one branch may match.
    pub(crate) exclusive: bool,
    /// The values of all branches, if every branch is only a list of values.
    pub(crate) options: Option<Vec<Value>>,
    pub(crate) tag: Option<UnionTag>,
}

/// The property whose constant identifies the object branches of a union.
#[derive(Debug)]
pub(crate) struct UnionTag {
    pub(crate) name: String,
    pub(crate) branches: Vec<(String, Vec<NodeId>)>,
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonTypeSet(u8);

impl JsonTypeSet {
    pub(crate) const NONE: JsonTypeSet = JsonTypeSet(0);
    pub(crate) const NULL: JsonTypeSet = JsonTypeSet(1);
    pub(crate) const BOOLEAN: JsonTypeSet = JsonTypeSet(2);
    pub(crate) const INTEGER: JsonTypeSet = JsonTypeSet(4);
    /// A number with a fraction.
    const FRACTION: JsonTypeSet = JsonTypeSet(8);
    pub(crate) const NUMBER: JsonTypeSet = JsonTypeSet(4 | 8);
    pub(crate) const STRING: JsonTypeSet = JsonTypeSet(16);
    pub(crate) const ARRAY: JsonTypeSet = JsonTypeSet(32);
    pub(crate) const OBJECT: JsonTypeSet = JsonTypeSet(64);
    pub(crate) const ALL: JsonTypeSet = JsonTypeSet(127);

    pub(crate) fn from_name(name: &str) -> Option<JsonTypeSet> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kinds, _)| *kinds)
    }

    pub(crate) fn of(value: &Value) -> JsonTypeSet {
        match value {
            Value::Null => JsonTypeSet::NULL,
            Value::Bool(_) => JsonTypeSet::BOOLEAN,
            Value::Number(number) if number::is_whole(number) => JsonTypeSet::INTEGER,
            Value::Number(_) => JsonTypeSet::FRACTION,
            Value::String(_) => JsonTypeSet::STRING,
            Value::Array(_) => JsonTypeSet::ARRAY,
            Value::Object(_) => JsonTypeSet::OBJECT,
        }
    }

    pub(crate) fn contains(self, other: JsonTypeSet) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn or(self, other: JsonTypeSet) -> JsonTypeSet {
        JsonTypeSet(self.0 | other.0)
    }

    pub(crate) fn and(self, other: JsonTypeSet) -> JsonTypeSet {
        JsonTypeSet(self.0 & other.0)
    }

    pub(crate) fn without_null(self) -> JsonTypeSet {
        JsonTypeSet(self.0 & !JsonTypeSet::NULL.0)
    }

    /// The types in words for a message: `string or array`. Omits null, which for a caller is the
    /// same as an absent field.
    pub(crate) fn describe(self) -> String {
        let wanted = self.without_null();
        if wanted == JsonTypeSet::NONE {
            return "null".to_owned();
        }
        let mut left = wanted;
        let mut names = Vec::new();
        for (kinds, name) in NAMES {
            if left.contains(kinds) {
                names.push(name);
                left = JsonTypeSet(left.0 & !kinds.0);
            }
        }
        names.join(" or ")
    }
}

impl Default for JsonTypeSet {
    fn default() -> JsonTypeSet {
        JsonTypeSet::ALL
    }
}

/// Broad types before narrow ones: `number` covers `integer`.
const NAMES: [(JsonTypeSet, &str); 7] = [
    (JsonTypeSet::NULL, "null"),
    (JsonTypeSet::BOOLEAN, "boolean"),
    (JsonTypeSet::NUMBER, "number"),
    (JsonTypeSet::INTEGER, "integer"),
    (JsonTypeSet::STRING, "string"),
    (JsonTypeSet::ARRAY, "array"),
    (JsonTypeSet::OBJECT, "object"),
];

/// The received type in a word; a fraction is named only where an integer is expected.
pub(crate) fn describe_received(value: &Value, wanted: JsonTypeSet) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if wanted.contains(JsonTypeSet::INTEGER) => "float",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A list of values in words: `'png' | 'jpeg'`.
pub(crate) fn options_in_words(options: &[Value]) -> String {
    let quoted: Vec<String> = options.iter().filter(|it| !it.is_null()).map(quote_value).collect();
    quoted.join(" | ")
}
