//! A compiled schema: resolved, typed, with compiled patterns.

use hashbrown::HashMap;
use regex::Regex;
use serde_json::{Number, Value};

use crate::fault::{TextRule, quoted};
use crate::number;

/// The index of a node in its shape's table; references and recursion are indexes too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) usize);

/// One schema object. All its rules apply at once.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) never: bool,
    pub(crate) kinds: Option<Kinds>,
    /// The JSON types that the node accepts, after its references, parts and branches.
    pub(crate) accepts: Kinds,
    pub(crate) allowed: Option<Vec<Value>>,
    /// The text `null` in a query string or a form is read as null (`NULL_TEXT`).
    pub(crate) reads_null_text: bool,
    pub(crate) text: Text,
    pub(crate) number: Range,
    pub(crate) array: Array,
    pub(crate) object: Object,
    pub(crate) reference: Option<NodeId>,
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) unions: Vec<Union>,
    pub(crate) not: Option<NodeId>,
}

#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) length: Length,
    pub(crate) format: Option<TextRule>,
    pub(crate) pattern: Option<Pattern>,
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) source: String,
    pub(crate) regex: Regex,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Length {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Range {
    pub(crate) minimum: Option<Number>,
    pub(crate) exclusive_minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) exclusive_maximum: Option<Number>,
    /// The range of an integer format such as `uint32`. Serde enforces it, so the check must too.
    pub(crate) representable: Option<(Number, Number)>,
    pub(crate) multiple_of: Option<Number>,
}

#[derive(Debug, Default)]
pub(crate) struct Array {
    pub(crate) length: Length,
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) items: Option<NodeId>,
    pub(crate) unique: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Object {
    pub(crate) length: Length,
    pub(crate) required: Vec<String>,
    pub(crate) properties: HashMap<String, Property>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) names: Option<NodeId>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Property {
    pub(crate) node: NodeId,
    pub(crate) required: bool,
}

/// `anyOf` or `oneOf`.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) branches: Vec<NodeId>,
    /// `oneOf`: exactly one branch may match.
    pub(crate) exclusive: bool,
    /// The values of all branches, if every branch is only a list of values.
    pub(crate) options: Option<Vec<Value>>,
    pub(crate) tag: Option<Tag>,
}

/// The property whose constant identifies the object branches of a union.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) branches: Vec<(String, Vec<NodeId>)>,
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const BOOLEAN: Kinds = Kinds(2);
    pub(crate) const INTEGER: Kinds = Kinds(4);
    /// A number with a fraction.
    const FRACTION: Kinds = Kinds(8);
    pub(crate) const NUMBER: Kinds = Kinds(4 | 8);
    pub(crate) const STRING: Kinds = Kinds(16);
    pub(crate) const ARRAY: Kinds = Kinds(32);
    pub(crate) const OBJECT: Kinds = Kinds(64);
    pub(crate) const ALL: Kinds = Kinds(127);

    pub(crate) fn named(name: &str) -> Option<Kinds> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kinds, _)| *kinds)
    }

    pub(crate) fn of(value: &Value) -> Kinds {
        match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::Number(number) if number::is_whole(number) => Kinds::INTEGER,
            Value::Number(_) => Kinds::FRACTION,
            Value::String(_) => Kinds::STRING,
            Value::Array(_) => Kinds::ARRAY,
            Value::Object(_) => Kinds::OBJECT,
        }
    }

    pub(crate) fn contains(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub(crate) fn without_null(self) -> Kinds {
        Kinds(self.0 & !Kinds::NULL.0)
    }

    /// The types in words for a message: `string or array`. Omits null, which for a caller is the
    /// same as an absent field.
    pub(crate) fn words(self) -> String {
        let wanted = self.without_null();
        if wanted == Kinds::NONE {
            return "null".to_owned();
        }
        let mut left = wanted;
        let mut names = Vec::new();
        for (kinds, name) in NAMES {
            if left.contains(kinds) {
                names.push(name);
                left = Kinds(left.0 & !kinds.0);
            }
        }
        names.join(" or ")
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds::ALL
    }
}

/// Broad types before narrow ones: `number` covers `integer`.
const NAMES: [(Kinds, &str); 7] = [
    (Kinds::NULL, "null"),
    (Kinds::BOOLEAN, "boolean"),
    (Kinds::NUMBER, "number"),
    (Kinds::INTEGER, "integer"),
    (Kinds::STRING, "string"),
    (Kinds::ARRAY, "array"),
    (Kinds::OBJECT, "object"),
];

/// The received type in a word; a fraction is named only where an integer is expected.
pub(crate) fn received(value: &Value, wanted: Kinds) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if wanted.contains(Kinds::INTEGER) => "float",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A list of values in words: `'png' | 'jpeg'`.
pub(crate) fn options_in_words(options: &[Value]) -> String {
    let quoted: Vec<String> = options.iter().filter(|it| !it.is_null()).map(quoted).collect();
    quoted.join(" | ")
}
