//! One error in a value: the message for people and the code for programs.

use std::fmt;

use serde_json::{Map, Number, Value, json};

/// Maximum characters of a caller's value that a message repeats.
const ECHO_CHARS_MAX: usize = 64;
/// Maximum names or options that a message lists.
const LISTED_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
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
        measured: Measured,
    },
    TooBig {
        maximum: Number,
        inclusive: bool,
        measured: Measured,
    },
    NotMultipleOf(Number),
    BadText(TextRule),
    TooComplex,
    /// A rule outside the schema; the text tells the caller what to do.
    Custom(String),
}

/// The quantity that a bound limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
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

impl Fault {
    pub fn missing(expected: &str) -> Fault {
        Fault::Missing { expected: expected.to_owned() }
    }

    /// A value outside the allowed ones; long values are truncated in the message.
    pub fn not_one_of(options: &[Value], received: &Value) -> Fault {
        let options = options.iter().filter(|it| !it.is_null()).cloned().collect();
        Fault::NotOneOf { options, received: echoed(received) }
    }

    /// The machine-readable form: a `code` and its fields.
    pub(crate) fn issue(&self) -> Map<String, Value> {
        let fields = match self {
            Fault::Missing { expected } => {
                json!({"code": "invalid_type", "expected": expected, "received": "undefined"})
            }
            Fault::WrongType { expected, received } => {
                json!({"code": "invalid_type", "expected": expected, "received": received})
            }
            Fault::NotOneOf { options, received } => {
                let listed = &options[..options.len().min(LISTED_MAX)];
                json!({"code": "invalid_enum_value", "options": listed, "received": received})
            }
            Fault::NoBranchFits { .. } | Fault::ManyBranchesFit => json!({"code": "invalid_union"}),
            Fault::UnknownKeys(keys) => json!({"code": "unrecognized_keys", "keys": shown(keys)}),
            Fault::TooSmall { minimum, inclusive, measured } => json!({
                "code": "too_small", "minimum": minimum, "type": measured.kind(),
                "inclusive": inclusive, "exact": false,
            }),
            Fault::TooBig { maximum, inclusive, measured } => json!({
                "code": "too_big", "maximum": maximum, "type": measured.kind(),
                "inclusive": inclusive, "exact": false,
            }),
            Fault::NotMultipleOf(step) => json!({"code": "not_multiple_of", "multipleOf": step}),
            Fault::BadText(rule) => json!({"code": "invalid_string", "validation": rule.name()}),
            Fault::TooComplex | Fault::Custom(_) => json!({"code": "custom"}),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Missing { .. } => write!(f, "Required"),
            Fault::WrongType { expected, received }
            | Fault::NoBranchFits { expected, received } => {
                write!(f, "Expected {expected}, received {received}")
            }
            Fault::NotOneOf { options, received } => {
                let quoted: Vec<String> = options.iter().map(quoted).collect();
                write!(f, "Invalid enum value. Expected {}", shown(&quoted).join(" | "))?;
                write!(f, ", received '{received}'")
            }
            Fault::ManyBranchesFit => {
                write!(f, "Matches more than one of the allowed forms; send exactly one of them")
            }
            Fault::UnknownKeys(keys) => {
                let quoted: Vec<String> = shown(keys).iter().map(|it| format!("'{it}'")).collect();
                write!(f, "Unrecognized key(s) in object: {}", quoted.join(", "))
            }
            Fault::TooSmall { minimum, inclusive, measured } => write_bound(
                f,
                *measured,
                if *inclusive { "at least" } else { "more than" },
                minimum,
            ),
            Fault::TooBig { maximum, inclusive, measured } => {
                write_bound(f, *measured, if *inclusive { "at most" } else { "less than" }, maximum)
            }
            Fault::NotMultipleOf(step) => write!(f, "Must be a multiple of {step}"),
            Fault::BadText(rule) => rule.fmt(f),
            Fault::TooComplex => write!(f, "Too large or too deeply nested; send a simpler value"),
            Fault::Custom(message) => f.write_str(message),
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

impl Measured {
    fn kind(self) -> &'static str {
        match self {
            Measured::Number => "number",
            Measured::Characters => "string",
            Measured::Elements => "array",
            Measured::Properties => "object",
        }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Fault {
        Fault::Custom(message.to_owned())
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Fault {
        Fault::Custom(message)
    }
}

/// Truncates a caller's text for a message.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(ECHO_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(crate) fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

/// Objects and arrays are named, not repeated: they may be as large as the body.
fn echoed(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        scalar => scalar.to_string(),
    }
}

fn shown(names: &[String]) -> &[String] {
    &names[..names.len().min(LISTED_MAX)]
}

fn write_bound(
    f: &mut fmt::Formatter<'_>,
    measured: Measured,
    words: &str,
    bound: &Number,
) -> fmt::Result {
    match measured {
        Measured::Number if words == "more than" => write!(f, "Must be greater than {bound}"),
        Measured::Number => write!(f, "Must be {words} {bound}"),
        Measured::Characters => write!(f, "Must contain {words} {bound} character(s)"),
        Measured::Elements => write!(f, "Must contain {words} {bound} element(s)"),
        Measured::Properties => write!(f, "Must contain {words} {bound} key(s)"),
    }
}
