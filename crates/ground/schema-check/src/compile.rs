//! Compiles a JSON Schema into nodes, and refuses a schema that it could not enforce.

use hashbrown::HashMap;
use serde_json::Value;

use crate::keyword::KeywordReader;
use crate::node::{NodeId, PropertyRule, SchemaNode, SchemaUnion};
use crate::schema::SchemaError;
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
pub(crate) fn compile_schema(
    document: &Value,
    pointer: &str,
) -> Result<(Vec<SchemaNode>, NodeId), SchemaError> {
    let mut compiler = SchemaCompiler { document, nodes: Vec::new(), referenced: HashMap::new() };
    let root = compiler.compile_reference(pointer, 0)?;
    let mut nodes = compiler.nodes;
    union::resolve_types(&mut nodes)?;
    union::find_tags(&mut nodes);
    Ok((nodes, root))
}

struct SchemaCompiler<'a> {
    document: &'a Value,
    nodes: Vec<SchemaNode>,
    referenced: HashMap<String, NodeId>,
}

impl SchemaCompiler<'_> {
    fn compile_reference(&mut self, pointer: &str, depth: usize) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.referenced.get(pointer) {
            return Ok(*known);
        }
        let Some(path) = pointer.strip_prefix('#') else {
            return Err(SchemaError::new(pointer, "only references within the document work"));
        };
        let Some(schema) = self.document.pointer(path) else {
            return Err(SchemaError::new(pointer, "the reference points at nothing"));
        };
        let id = self.reserve_node(pointer)?;
        self.referenced.insert(pointer.to_owned(), id);
        self.nodes[id.0] = self.compile_node(schema, pointer, depth)?;
        Ok(id)
    }

    fn compile_inline(
        &mut self,
        schema: &Value,
        pointer: String,
        depth: usize,
    ) -> Result<NodeId, SchemaError> {
        let id = self.reserve_node(&pointer)?;
        self.nodes[id.0] = self.compile_node(schema, &pointer, depth)?;
        Ok(id)
    }

    fn reserve_node(&mut self, pointer: &str) -> Result<NodeId, SchemaError> {
        if NODES_MAX <= self.nodes.len() {
            return Err(SchemaError::new(pointer, "the schema has too many parts"));
        }
        self.nodes.push(SchemaNode::default());
        Ok(NodeId(self.nodes.len() - 1))
    }

    fn compile_node(
        &mut self,
        schema: &Value,
        pointer: &str,
        depth: usize,
    ) -> Result<SchemaNode, SchemaError> {
        if DEPTH_MAX <= depth {
            return Err(SchemaError::new(pointer, "the schema is nested too deeply"));
        }
        let schema = match schema {
            Value::Bool(allows) => {
                return Ok(SchemaNode { never: !allows, ..SchemaNode::default() });
            }
            Value::Object(schema) => schema,
            _ => return Err(SchemaError::new(pointer, "a schema is an object or a boolean")),
        };
        let source = KeywordReader { pointer, depth };
        let mut node = SchemaNode::default();
        for (keyword, argument) in schema {
            self.compile_keyword(&mut node, &source, keyword, argument)?;
        }
        let required = &node.object.required;
        for (name, property) in &mut node.object.properties {
            property.required = required.contains(name);
        }
        Ok(node)
    }

    fn compile_keyword(
        &mut self,
        node: &mut SchemaNode,
        source: &KeywordReader<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "type" => node.kinds = Some(source.parse_types(argument)?),
            "enum" => node.allowed = Some(source.parse_list(keyword, argument)?.clone()),
            "const" => node.allowed = Some(vec![argument.clone()]),
            "format" => source.parse_format(node, argument)?,
            "pattern" => {
                node.text.pattern =
                    Some(source.parse_pattern(source.parse_text(keyword, argument)?)?)
            }
            "minLength" | "maxLength" => {
                source.parse_length(&mut node.text.length, keyword, argument)?
            }
            "minItems" | "maxItems" => {
                source.parse_length(&mut node.array.length, keyword, argument)?
            }
            "minProperties" | "maxProperties" => {
                source.parse_length(&mut node.object.length, keyword, argument)?;
            }
            "minimum" => node.number.minimum = Some(source.parse_number(keyword, argument)?),
            "maximum" => node.number.maximum = Some(source.parse_number(keyword, argument)?),
            "exclusiveMinimum" => {
                node.number.exclusive_minimum = Some(source.parse_number(keyword, argument)?);
            }
            "exclusiveMaximum" => {
                node.number.exclusive_maximum = Some(source.parse_number(keyword, argument)?);
            }
            "multipleOf" => node.number.multiple_of = Some(source.parse_number(keyword, argument)?),
            "uniqueItems" => node.array.unique = *argument == Value::Bool(true),
            "required" => node.object.required = source.parse_names(keyword, argument)?,
            NULL_TEXT => node.reads_null_text = *argument == Value::Bool(true),
            annotation if ANNOTATIONS.contains(&annotation) || annotation.starts_with("x-") => (),
            _ => self.compile_applicator(node, source, keyword, argument)?,
        }
        Ok(())
    }

    /// Compiles keywords whose argument is one or more schemas.
    fn compile_applicator(
        &mut self,
        node: &mut SchemaNode,
        source: &KeywordReader<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "$ref" => {
                let pointer = source.parse_text(keyword, argument)?;
                node.reference = Some(self.compile_reference(pointer, source.depth + 1)?);
            }
            "items" => node.array.items = Some(self.compile_child(source, keyword, argument)?),
            "prefixItems" => {
                node.array.prefix = self.compile_children(source, keyword, argument)?
            }
            "additionalProperties" => {
                node.object.additional = Some(self.compile_child(source, keyword, argument)?);
            }
            "propertyNames" => {
                node.object.names = Some(self.compile_child(source, keyword, argument)?)
            }
            "properties" => {
                for (name, schema) in source.parse_map(keyword, argument)? {
                    let id = self.compile_named_child(source, keyword, name, schema)?;
                    let property = PropertyRule { node: id, required: false };
                    node.object.properties.insert(name.clone(), property);
                }
            }
            "patternProperties" => {
                for (pattern, schema) in source.parse_map(keyword, argument)? {
                    let id = self.compile_named_child(source, keyword, pattern, schema)?;
                    node.object.patterns.push((source.parse_pattern(pattern)?, id));
                }
            }
            "allOf" => node.all_of = self.compile_children(source, keyword, argument)?,
            "anyOf" | "oneOf" => {
                let branches = self.compile_children(source, keyword, argument)?;
                let exclusive = keyword == "oneOf";
                node.unions.push(SchemaUnion { branches, exclusive, options: None, tag: None });
            }
            "not" => node.not = Some(self.compile_child(source, keyword, argument)?),
            other => return Err(source.error(&format!("the keyword `{other}` is not enforced"))),
        }
        Ok(())
    }

    fn compile_child(
        &mut self,
        source: &KeywordReader<'_>,
        keyword: &str,
        schema: &Value,
    ) -> Result<NodeId, SchemaError> {
        self.compile_inline(schema, format!("{}/{keyword}", source.pointer), source.depth + 1)
    }

    fn compile_named_child(
        &mut self,
        source: &KeywordReader<'_>,
        keyword: &str,
        name: &str,
        schema: &Value,
    ) -> Result<NodeId, SchemaError> {
        self.compile_inline(
            schema,
            format!("{}/{keyword}/{name}", source.pointer),
            source.depth + 1,
        )
    }

    fn compile_children(
        &mut self,
        source: &KeywordReader<'_>,
        keyword: &str,
        argument: &Value,
    ) -> Result<Vec<NodeId>, SchemaError> {
        let mut children = Vec::new();
        for (index, schema) in source.parse_list(keyword, argument)?.iter().enumerate() {
            children.push(self.compile_named_child(source, keyword, &index.to_string(), schema)?);
        }
        Ok(children)
    }
}
