//! Compiles a JSON Schema into nodes, and refuses a schema that it could not enforce.

use hashbrown::HashMap;
use serde_json::Value;

use crate::node::{Node, NodeId, Property, Union};
use crate::shape::SchemaError;
use crate::source::Source;
use crate::union;

/// Limits of the schema itself, far above those of our types.
const NODES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;

/// Marks a schema for which the text `null` in a query string or a form means null. It is for fields
/// that take no text.
pub const NULL_TEXT: &str = "x-null-text";

/// Keywords that describe and forbid nothing.
const ANNOTATIONS: [&str; 17] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "discriminator",
    "contentEncoding",
    "contentMediaType",
    "externalDocs",
];

/// Compiles the schema at `pointer` in `document`; returns all nodes and the root.
pub(crate) fn compile(document: &Value, pointer: &str) -> Result<(Vec<Node>, NodeId), SchemaError> {
    let mut compiler = Compiler { document, nodes: Vec::new(), referenced: HashMap::new() };
    let root = compiler.reference(pointer, 0)?;
    let mut nodes = compiler.nodes;
    union::settle_kinds(&mut nodes)?;
    union::find_tags(&mut nodes);
    Ok((nodes, root))
}

struct Compiler<'a> {
    document: &'a Value,
    nodes: Vec<Node>,
    referenced: HashMap<String, NodeId>,
}

impl Compiler<'_> {
    fn reference(&mut self, pointer: &str, depth: usize) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.referenced.get(pointer) {
            return Ok(*known);
        }
        let Some(path) = pointer.strip_prefix('#') else {
            return Err(SchemaError::new(pointer, "only references within the document work"));
        };
        let Some(schema) = self.document.pointer(path) else {
            return Err(SchemaError::new(pointer, "the reference points at nothing"));
        };
        let id = self.reserve(pointer)?;
        self.referenced.insert(pointer.to_owned(), id);
        self.nodes[id.0] = self.node(schema, pointer, depth)?;
        Ok(id)
    }

    fn inline(
        &mut self,
        schema: &Value,
        pointer: String,
        depth: usize,
    ) -> Result<NodeId, SchemaError> {
        let id = self.reserve(&pointer)?;
        self.nodes[id.0] = self.node(schema, &pointer, depth)?;
        Ok(id)
    }

    fn reserve(&mut self, pointer: &str) -> Result<NodeId, SchemaError> {
        if NODES_MAX <= self.nodes.len() {
            return Err(SchemaError::new(pointer, "the schema has too many parts"));
        }
        self.nodes.push(Node::default());
        Ok(NodeId(self.nodes.len() - 1))
    }

    fn node(&mut self, schema: &Value, pointer: &str, depth: usize) -> Result<Node, SchemaError> {
        if DEPTH_MAX <= depth {
            return Err(SchemaError::new(pointer, "the schema is nested too deeply"));
        }
        let schema = match schema {
            Value::Bool(allows) => return Ok(Node { never: !allows, ..Node::default() }),
            Value::Object(schema) => schema,
            _ => return Err(SchemaError::new(pointer, "a schema is an object or a boolean")),
        };
        let source = Source { pointer, depth };
        let mut node = Node::default();
        for (keyword, argument) in schema {
            self.keyword(&mut node, &source, keyword, argument)?;
        }
        let required = &node.object.required;
        for (name, property) in &mut node.object.properties {
            property.required = required.contains(name);
        }
        Ok(node)
    }

    fn keyword(
        &mut self,
        node: &mut Node,
        source: &Source<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "type" => node.kinds = Some(source.kinds(argument)?),
            "enum" => node.allowed = Some(source.list(keyword, argument)?.clone()),
            "const" => node.allowed = Some(vec![argument.clone()]),
            "format" => source.format(node, argument)?,
            "pattern" => node.text.pattern = Some(source.pattern(source.text(keyword, argument)?)?),
            "minLength" | "maxLength" => source.length(&mut node.text.length, keyword, argument)?,
            "minItems" | "maxItems" => source.length(&mut node.array.length, keyword, argument)?,
            "minProperties" | "maxProperties" => {
                source.length(&mut node.object.length, keyword, argument)?;
            }
            "minimum" => node.number.minimum = Some(source.number(keyword, argument)?),
            "maximum" => node.number.maximum = Some(source.number(keyword, argument)?),
            "exclusiveMinimum" => {
                node.number.exclusive_minimum = Some(source.number(keyword, argument)?);
            }
            "exclusiveMaximum" => {
                node.number.exclusive_maximum = Some(source.number(keyword, argument)?);
            }
            "multipleOf" => node.number.multiple_of = Some(source.number(keyword, argument)?),
            "uniqueItems" => node.array.unique = *argument == Value::Bool(true),
            "required" => node.object.required = source.names(keyword, argument)?,
            NULL_TEXT => node.reads_null_text = *argument == Value::Bool(true),
            annotation if ANNOTATIONS.contains(&annotation) || annotation.starts_with("x-") => (),
            _ => self.applicator(node, source, keyword, argument)?,
        }
        Ok(())
    }

    /// Compiles keywords whose argument is one or more schemas.
    fn applicator(
        &mut self,
        node: &mut Node,
        source: &Source<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "$ref" => {
                let pointer = source.text(keyword, argument)?;
                node.reference = Some(self.reference(pointer, source.depth + 1)?);
            }
            "items" => node.array.items = Some(self.child(source, keyword, argument)?),
            "prefixItems" => node.array.prefix = self.children(source, keyword, argument)?,
            "additionalProperties" => {
                node.object.additional = Some(self.child(source, keyword, argument)?);
            }
            "propertyNames" => node.object.names = Some(self.child(source, keyword, argument)?),
            "properties" => {
                for (name, schema) in source.map(keyword, argument)? {
                    let id = self.named_child(source, keyword, name, schema)?;
                    let property = Property { node: id, required: false };
                    node.object.properties.insert(name.clone(), property);
                }
            }
            "patternProperties" => {
                for (pattern, schema) in source.map(keyword, argument)? {
                    let id = self.named_child(source, keyword, pattern, schema)?;
                    node.object.patterns.push((source.pattern(pattern)?, id));
                }
            }
            "allOf" => node.all_of = self.children(source, keyword, argument)?,
            "anyOf" | "oneOf" => {
                let branches = self.children(source, keyword, argument)?;
                let exclusive = keyword == "oneOf";
                node.unions.push(Union { branches, exclusive, options: None, tag: None });
            }
            "not" => node.not = Some(self.child(source, keyword, argument)?),
            other => return Err(source.error(&format!("the keyword `{other}` is not enforced"))),
        }
        Ok(())
    }

    fn child(
        &mut self,
        source: &Source<'_>,
        keyword: &str,
        schema: &Value,
    ) -> Result<NodeId, SchemaError> {
        self.inline(schema, format!("{}/{keyword}", source.pointer), source.depth + 1)
    }

    fn named_child(
        &mut self,
        source: &Source<'_>,
        keyword: &str,
        name: &str,
        schema: &Value,
    ) -> Result<NodeId, SchemaError> {
        self.inline(schema, format!("{}/{keyword}/{name}", source.pointer), source.depth + 1)
    }

    fn children(
        &mut self,
        source: &Source<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<Vec<NodeId>, SchemaError> {
        let mut children = Vec::new();
        for (index, schema) in source.list(keyword, argument)?.iter().enumerate() {
            children.push(self.named_child(source, keyword, &index.to_string(), schema)?);
        }
        Ok(children)
    }
}
