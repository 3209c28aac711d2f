//! One error in a value: the message for people and the code for programs.

use std::fmt;

use serde_json::{Map, Number, Value, json};

/// Maximum characters of a caller's value that a message repeats.
const ECHO_CHARS_MAX: usize = 64;
/// Maximum names or options that a message lists.
const LISTED_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub enum ValidationFault {
    Missing {
        expected: String,
    },
    WrongType {
        expected: String,
        received: &'static str,
    },
    NotOneOf {
        options: Vec<Value>,
        received: String,
    },
    NoBranchFits {
        expected: String,
        received: &'static str,
    },
    ManyBranchesFit,
    UnknownKeys(Vec<String>),
    TooSmall {
        minimum: Number,
        inclusive: bool,
        measured: BoundedQuantity,
    },
    TooBig {
        maximum: Number,
        inclusive: bool,
        measured: BoundedQuantity,
    },
    NotMultipleOf(Number),
    BadText(TextRule),
    /// The value has a form that `not` excludes.
    ExcludedForm,
    TooComplex,
    /// A rule outside the schema; the text tells the caller what to do.
    Custom(String),
}

/// The quantity that a bound limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundedQuantity {
    Number,
    Characters,
    Elements,
    Properties,
}

/// A required text format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextRule {
    Url,
    Uuid,
    Email,
    Date,
    DateTime,
    Pattern(String),
}

impl ValidationFault {
    pub fn missing(expected: &str) -> ValidationFault {
        ValidationFault::Missing { expected: expected.to_owned() }
    }

    /// A value outside the allowed ones; long values are truncated in the message.
    pub fn not_one_of(options: &[Value], received: &Value) -> ValidationFault {
        let options = options.iter().filter(|it| !it.is_null()).cloned().collect();
        ValidationFault::NotOneOf { options, received: echo_value(received) }
    }

    /// The machine-readable form: a `code` and its fields.
    pub(crate) fn to_issue(&self) -> Map<String, Value> {
        let fields = match self {
            ValidationFault::Missing { expected } => {
                json!({"code": "invalid_type", "expected": expected, "received": "undefined"})
            }
            ValidationFault::WrongType { expected, received } => {
                json!({"code": "invalid_type", "expected": expected, "received": received})
            }
            ValidationFault::NotOneOf { options, received } => {
                let listed = &options[..options.len().min(LISTED_MAX)];
                json!({"code": "invalid_enum_value", "options": listed, "received": received})
            }
            ValidationFault::NoBranchFits { .. } | ValidationFault::ManyBranchesFit => {
                json!({"code": "invalid_union"})
            }
            ValidationFault::UnknownKeys(keys) => {
                json!({"code": "unrecognized_keys", "keys": limit_names(keys)})
            }
            ValidationFault::TooSmall { minimum, inclusive, measured } => json!({
                "code": "too_small", "minimum": minimum, "type": measured.json_type(),
                "inclusive": inclusive, "exact": false,
            }),
            ValidationFault::TooBig { maximum, inclusive, measured } => json!({
                "code": "too_big", "maximum": maximum, "type": measured.json_type(),
                "inclusive": inclusive, "exact": false,
            }),
            ValidationFault::NotMultipleOf(step) => {
                json!({"code": "not_multiple_of", "multipleOf": step})
            }
            ValidationFault::BadText(rule) => {
                json!({"code": "invalid_string", "validation": rule.name()})
            }
            ValidationFault::ExcludedForm
            | ValidationFault::TooComplex
            | ValidationFault::Custom(_) => json!({"code": "custom"}),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

impl fmt::Display for ValidationFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValidationFault::Missing { .. } => write!(f, "Required"),
            ValidationFault::WrongType { expected, received }
            | ValidationFault::NoBranchFits { expected, received } => {
                write!(f, "Expected {expected}, received {received}")
            }
            ValidationFault::NotOneOf { options, received } => {
                let quoted: Vec<String> = options.iter().map(quote_value).collect();
                write!(f, "Invalid enum value. Expected {}", limit_names(&quoted).join(" | "))?;
                write!(f, ", received '{received}'")
            }
            ValidationFault::ManyBranchesFit => {
                write!(f, "Matches more than one of the allowed forms; send exactly one of them")
            }
            ValidationFault::UnknownKeys(keys) => {
                let quoted: Vec<String> =
                    limit_names(keys).iter().map(|it| format!("'{it}'")).collect();
                write!(f, "Unrecognized key(s) in object: {}", quoted.join(", "))
            }
            ValidationFault::TooSmall { minimum, inclusive, measured } => write_bound(
                f,
                *measured,
                if *inclusive { "at least" } else { "more than" },
                minimum,
            ),
            ValidationFault::TooBig { maximum, inclusive, measured } => {
                write_bound(f, *measured, if *inclusive { "at most" } else { "less than" }, maximum)
            }
            ValidationFault::NotMultipleOf(step) => write!(f, "Must be a multiple of {step}"),
            ValidationFault::BadText(rule) => rule.fmt(f),
            ValidationFault::ExcludedForm => write!(f, "Has a form that is not allowed here"),
            ValidationFault::TooComplex => {
                write!(f, "Too large or too deeply nested; send a simpler value")
            }
            ValidationFault::Custom(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for TextRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextRule::Url => {
                write!(f, "Must be an absolute URL, such as https://example.com/a.png")
            }
            TextRule::Uuid => {
                write!(f, "Must be a UUID, such as 123e4567-e89b-42d3-a456-426614174000")
            }
            TextRule::Email => write!(f, "Must be an e-mail address"),
            TextRule::Date => write!(f, "Must be a date, such as 2026-01-31"),
            TextRule::DateTime => {
                write!(f, "Must be a date and time, such as 2026-01-31T12:00:00Z")
            }
            TextRule::Pattern(pattern) => write!(f, "Must match the pattern {pattern}"),
        }
    }
}

impl TextRule {
    fn name(&self) -> &'static str {
        match self {
            TextRule::Url => "url",
            TextRule::Uuid => "uuid",
            TextRule::Email => "email",
            TextRule::Date => "date",
            TextRule::DateTime => "datetime",
            TextRule::Pattern(_) => "regex",
        }
    }
}

impl BoundedQuantity {
    fn json_type(self) -> &'static str {
        match self {
            BoundedQuantity::Number => "number",
            BoundedQuantity::Characters => "string",
            BoundedQuantity::Elements => "array",
            BoundedQuantity::Properties => "object",
        }
    }
}

impl From<&str> for ValidationFault {
    fn from(message: &str) -> ValidationFault {
        ValidationFault::Custom(message.to_owned())
    }
}

impl From<String> for ValidationFault {
    fn from(message: String) -> ValidationFault {
        ValidationFault::Custom(message)
    }
}

/// Truncates a caller's text for a message.
pub(crate) fn truncate_text(text: &str) -> String {
    match text.char_indices().nth(ECHO_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(crate) fn quote_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

/// Objects and arrays are named, not repeated: they may be as large as the body.
fn echo_value(value: &Value) -> String {
    match value {
        Value::String(text) => truncate_text(text),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        scalar => scalar.to_string(),
    }
}

fn limit_names(names: &[String]) -> &[String] {
    &names[..names.len().min(LISTED_MAX)]
}

fn write_bound(
    f: &mut fmt::Formatter<'_>,
    measured: BoundedQuantity,
    words: &str,
    bound: &Number,
) -> fmt::Result {
    match measured {
        BoundedQuantity::Number if words == "more than" => {
            write!(f, "Must be greater than {bound}")
        }
        BoundedQuantity::Number => write!(f, "Must be {words} {bound}"),
        BoundedQuantity::Characters => write!(f, "Must contain {words} {bound} character(s)"),
        BoundedQuantity::Elements => write!(f, "Must contain {words} {bound} element(s)"),
        BoundedQuantity::Properties => write!(f, "Must contain {words} {bound} key(s)"),
    }
}
