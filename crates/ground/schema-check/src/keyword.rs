//! Reads the arguments of a schema's keywords, and reports the position of an invalid one.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

use crate::format;
use crate::node::{CompiledPattern, JsonTypeSet, LengthBounds, SchemaNode};
use crate::schema::SchemaError;

/// Maximum memory of one compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Pointer and depth of the schema that is compiled.
pub(crate) struct KeywordReader<'a> {
    pub(crate) pointer: &'a str,
    pub(crate) depth: usize,
}

impl KeywordReader<'_> {
    pub(crate) fn error(&self, problem: &str) -> SchemaError {
        SchemaError::new(self.pointer, problem)
    }

    pub(crate) fn parse_types(&self, argument: &Value) -> Result<JsonTypeSet, SchemaError> {
        let names = match argument {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut kinds = JsonTypeSet::NONE;
        for name in names {
            let kind = name.as_str().and_then(JsonTypeSet::from_name);
            kinds = kinds.or(kind.ok_or_else(|| self.error(&format!("{name} is not a type")))?);
        }
        Ok(kinds)
    }

    pub(crate) fn parse_format(
        &self,
        node: &mut SchemaNode,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        let name = self.parse_text("format", argument)?;
        node.text.format = format::parse_format(name).map_err(|problem| self.error(&problem))?;
        let bounds = format::integer_bounds(name);
        node.number.representable =
            bounds.map(|(least, greatest)| (Number::from(least), Number::from(greatest)));
        Ok(())
    }

    pub(crate) fn parse_pattern(&self, source: &str) -> Result<CompiledPattern, SchemaError> {
        let regex = compile_pattern(source).map_err(|error| self.error(&error.to_string()))?;
        Ok(CompiledPattern { source: source.to_owned(), regex })
    }

    pub(crate) fn parse_length(
        &self,
        length: &mut LengthBounds,
        keyword: &str,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        let Some(bound) = argument.as_u64() else {
            return Err(self.error(&format!("`{keyword}` is not a whole number")));
        };
        if keyword.starts_with("min") {
            length.min = Some(bound);
        } else {
            length.max = Some(bound);
        }
        Ok(())
    }

    pub(crate) fn parse_number(
        &self,
        keyword: &str,
        argument: &Value,
    ) -> Result<Number, SchemaError> {
        match argument {
            Value::Number(number) => Ok(number.clone()),
            _ => Err(self.error(&format!("`{keyword}` is not a number"))),
        }
    }

    pub(crate) fn parse_text<'v>(
        &self,
        keyword: &str,
        argument: &'v Value,
    ) -> Result<&'v str, SchemaError> {
        argument.as_str().ok_or_else(|| self.error(&format!("`{keyword}` is not a string")))
    }

    pub(crate) fn parse_list<'v>(
        &self,
        keyword: &str,
        argument: &'v Value,
    ) -> Result<&'v Vec<Value>, SchemaError> {
        argument.as_array().ok_or_else(|| self.error(&format!("`{keyword}` is not an array")))
    }

    pub(crate) fn parse_map<'v>(
        &self,
        keyword: &str,
        argument: &'v Value,
    ) -> Result<&'v Map<String, Value>, SchemaError> {
        argument.as_object().ok_or_else(|| self.error(&format!("`{keyword}` is not an object")))
    }

    pub(crate) fn parse_names(
        &self,
        keyword: &str,
        argument: &Value,
    ) -> Result<Vec<String>, SchemaError> {
        let mut names = Vec::new();
        for name in self.parse_list(keyword, argument)? {
            names.push(self.parse_text(keyword, name)?.to_owned());
        }
        Ok(names)
    }
}

/// JSON Schema uses ECMAScript patterns, in which `\d` and `\w` are ASCII.
fn compile_pattern(source: &str) -> Result<Regex, regex::Error> {
    let mut translated = String::with_capacity(source.len());
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            translated.push(letter);
            continue;
        }
        match letters.next() {
            Some('d') => translated.push_str("[0-9]"),
            Some('D') => translated.push_str("[^0-9]"),
            Some('w') => translated.push_str("[0-9A-Za-z_]"),
            Some('W') => translated.push_str("[^0-9A-Za-z_]"),
            Some('/') => translated.push('/'),
            Some(other) => translated.extend(['\\', other]),
            None => translated.push('\\'),
        }
    }
    RegexBuilder::new(&translated).size_limit(PATTERN_BYTES_MAX).build()
}
