//! A JSON Schema that is both published and enforced.

use std::any::TypeId;
use std::sync::{LazyLock, PoisonError, RwLock};

use hashbrown::HashMap;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::compile::compile_schema;
use crate::faults::ValidationFaults;
use crate::node::{NodeId, SchemaNode};
use crate::walk::{self, NullMeaning};
use crate::{adapt, coerce};

#[derive(Debug)]
pub struct CompiledSchema {
    nodes: Vec<SchemaNode>,
    root: NodeId,
}

/// The schema has a rule that would be published and not enforced.
#[derive(Debug, thiserror::Error)]
#[error("{problem} (in the schema at {pointer})")]
pub struct SchemaError {
    pointer: String,
    problem: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// Errors of the caller.
    #[error(transparent)]
    Invalid(ValidationFaults),
    /// A bug of ours: the schema accepts a value that the type refuses.
    #[error("the published schema accepts what its type refuses: {0}")]
    Disagrees(serde_json::Error),
}

/// Checks a value and deserializes it to `T`; used for bodies, query strings and form fields.
pub fn check_and_parse<T: JsonSchema + DeserializeOwned + 'static>(
    value: Value,
) -> Result<T, ParseError> {
    let tidied =
        CompiledSchema::for_type::<T>().check_and_adapt(value).map_err(ParseError::Invalid)?;
    serde_json::from_value(tidied).map_err(ParseError::Disagrees)
}

impl CompiledSchema {
    /// The shape of a type, built on first use. Panics if the type's schema cannot be enforced,
    /// which is a bug in the type: build all shapes at start, or in a test.
    pub fn for_type<T: JsonSchema + 'static>() -> &'static CompiledSchema {
        find_or_build(TypeId::of::<T>(), || schemars::schema_for!(T))
    }

    /// The shape of a self-contained schema, whose references point into itself.
    pub fn from_schema(schema: &Value) -> Result<CompiledSchema, SchemaError> {
        CompiledSchema::from_document(schema, "#")
    }

    /// The shape of one schema of a document, such as `#/components/schemas/Model`.
    pub fn from_document(document: &Value, pointer: &str) -> Result<CompiledSchema, SchemaError> {
        let (nodes, root) = compile_schema(document, pointer)?;
        Ok(CompiledSchema { nodes, root })
    }

    /// Checks a request: null on an optional property counts as absent.
    pub fn check(&self, value: &Value) -> Result<(), ValidationFaults> {
        walk::check_value(&self.nodes, self.root, value, NullMeaning::Absent).faults.into_result()
    }

    /// Checks a response as strictly as a client's validator would: null is a value.
    pub fn check_reply(&self, value: &Value) -> Result<(), ValidationFaults> {
        walk::check_value(&self.nodes, self.root, value, NullMeaning::Literal).faults.into_result()
    }

    /// Checks the value and adapts it for serde: a null that means an absent field is removed, and
    /// a whole float where an integer is expected becomes an integer.
    pub fn check_and_adapt(&self, value: Value) -> Result<Value, ValidationFaults> {
        let findings = walk::check_value(&self.nodes, self.root, &value, NullMeaning::Absent);
        findings.faults.into_result()?;
        if findings.untidy {
            return Ok(adapt::adapt_for_serde(&self.nodes, self.root, value));
        }
        Ok(value)
    }

    /// Converts the text pairs of a query string or form into the JSON that the schema expects.
    /// Other text stays text, so that the check reports the expected type.
    pub fn coerce_pairs(&self, pairs: Vec<(String, String)>) -> Value {
        coerce::coerce_pairs(&self.nodes, self.root, pairs)
    }

    /// Converts the variables of a path, whose names are distinct.
    pub fn coerce_distinct(&self, pairs: impl Iterator<Item = (String, String)>) -> Value {
        coerce::coerce_distinct(&self.nodes, self.root, pairs)
    }
}

impl SchemaError {
    pub(crate) fn new(pointer: &str, problem: impl Into<String>) -> SchemaError {
        SchemaError { pointer: pointer.to_owned(), problem: problem.into() }
    }
}

/// Shapes live as long as the program, one for each type in use.
fn find_or_build(key: TypeId, schema: fn() -> Schema) -> &'static CompiledSchema {
    static SHAPES: LazyLock<RwLock<HashMap<TypeId, &'static CompiledSchema>>> =
        LazyLock::new(RwLock::default);
    if let Some(known) = SHAPES.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known;
    }
    let built = CompiledSchema::from_schema(&schema().to_value());
    let shape = Box::leak(Box::new(built.expect("a type's schema uses only enforced keywords")));
    SHAPES.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(shape)
}
