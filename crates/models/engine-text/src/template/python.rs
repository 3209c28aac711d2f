//! Python features that chat templates expect beyond minijinja.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

/// The variable with the current Unix time in seconds.
pub(super) const NOW: &str = "now_s";

/// Limits faulty or malicious templates; real chats nest less.
const RECURSION_MAX: usize = 100;

pub(super) fn build_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(build_whitespace_syntax());
    environment.set_recursion_limit(RECURSION_MAX);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment.add_filter("tojson", to_json);
    environment
}

/// The whitespace settings of Hugging Face.
fn build_whitespace_syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    // Fails only for invalid delimiters, and these are the default ones.
    syntax.build().unwrap_or_default()
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// The date of the request, in UTC.
fn strftime_now(state: &State<'_, '_>, format: &str) -> Result<String, Error> {
    let invalid = |error: String| Error::new(ErrorKind::InvalidOperation, error);
    let now_s = state.lookup(NOW).and_then(|now| i64::try_from(now).ok()).unwrap_or_default();
    let now = Timestamp::from_second(now_s).map_err(|error| invalid(error.to_string()))?;
    jiff::fmt::strtime::format(format, &now.to_zoned(TimeZone::UTC))
        .map_err(|error| invalid(error.to_string()))
}

/// `json.dumps`: with spaces after `,` and `:`, or indented, without HTML escaping.
fn to_json(value: &Value, _positional: Rest<Value>, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    // Python's other options do not change what templates print.
    for ignored in ["ensure_ascii", "sort_keys", "separators"] {
        let _: Option<Value> = options.get(ignored)?;
    }
    let text = match indent {
        Some(width) => {
            write_json(value, PrettyFormatter::with_indent(" ".repeat(width).as_bytes()))?
        }
        None => write_json(value, SpacedFormatter)?,
    };
    Ok(Value::from_safe_string(text))
}

fn write_json(value: &Value, formatter: impl Formatter) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let unfit = |error: String| Error::new(ErrorKind::BadSerialization, error);
    value.serialize(&mut serializer).map_err(|error| unfit(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unfit(error.to_string()))
}

struct SpacedFormatter;

impl Formatter for SpacedFormatter {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
