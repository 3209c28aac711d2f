//! The tools of a server: read from its lists, filtered and bounded.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::fault::McpFault;
use crate::{TOOL_BYTES_MAX, TOOL_NAME_CHARS_MAX, TOOLS_MAX};

const LIST: &str = "tools/list";

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpTool {
    pub name: String,
    pub description: Option<String>,
    pub input_schema: Map<String, Value>,
    pub annotations: Option<Map<String, Value>>,
}

/// The tools that may be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpToolFilter {
    /// None allows all names.
    pub names: Option<Vec<String>>,
    /// Names that are not allowed.
    pub excluded: Vec<String>,
    /// None allows both kinds: true only tools that say that they change nothing.
    pub read_only: Option<bool>,
}

impl McpToolFilter {
    pub fn allows(&self, tool: &McpTool) -> bool {
        let is_named = self.names.as_ref().is_none_or(|names| names.contains(&tool.name));
        let is_excluded = self.excluded.contains(&tool.name);
        is_named
            && !is_excluded
            && self.read_only.is_none_or(|read_only| tool.is_read_only() == read_only)
    }
}

impl McpTool {
    /// Reads an entry of a list.
    pub fn from_json(entry: Value) -> Result<McpTool, McpFault> {
        let Value::Object(mut members) = entry else { return Err(McpFault::Malformed(LIST)) };
        let mut take = |name: &str| members.shift_remove(name).unwrap_or_default();
        let (name, description) = (take("name"), take("description"));
        let schema = match take("inputSchema") {
            Value::Null => take("input_schema"),
            schema => schema,
        };
        let annotations = take("annotations");
        let (Value::String(name), Value::Object(input_schema)) = (name, schema) else {
            return Err(McpFault::Malformed(LIST));
        };
        if name.is_empty() || TOOL_NAME_CHARS_MAX < name.chars().count() {
            return Err(McpFault::Malformed(LIST));
        }
        Ok(McpTool {
            name,
            description: match description {
                Value::String(text) => Some(text),
                _ => None,
            },
            input_schema,
            annotations: match annotations {
                Value::Object(members) => Some(members),
                _ => None,
            },
        })
    }

    /// True if the server says that the tool changes nothing.
    pub fn is_read_only(&self) -> bool {
        let hint = self.annotations.as_ref().and_then(|hints| hints.get("readOnlyHint"));
        hint == Some(&Value::Bool(true))
    }

    /// A digest of all that describes the tool, the same for any order of members.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        feed(
            &json!([self.name, self.description, self.input_schema, self.annotations]),
            &mut digest,
        );
        digest.finalize().into()
    }

    fn count_bytes(&self) -> usize {
        let schema = Value::Object(self.input_schema.clone()).to_string().len();
        let hints = self.annotations.clone().map_or(0, |it| Value::Object(it).to_string().len());
        self.name.len() + self.description.as_deref().map_or(0, str::len) + schema + hints
    }
}

/// Feeds a value with the members of objects in alphabetical order. Absent and null are the same.
fn feed(value: &Value, digest: &mut Sha256) {
    match value {
        Value::Array(items) => {
            digest.update(b"[");
            items.iter().for_each(|item| feed(item, digest));
            digest.update(b"]");
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().filter(|it| !it.1.is_null()).collect();
            members.sort_by_key(|it| it.0);
            digest.update(b"{");
            for (name, value) in members {
                feed(&Value::from(name.as_str()), digest);
                feed(value, digest);
            }
            digest.update(b"}");
        }
        other => {
            let text = other.to_string();
            digest.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(text.as_bytes());
        }
    }
}

/// The offered tools of a list, within the bounds. Of several with the same name the first counts.
#[derive(Debug, Default)]
pub(crate) struct ToolListReader {
    tools: Vec<McpTool>,
    names: HashSet<String>,
    bytes: usize,
}

impl ToolListReader {
    /// Adds a page. Returns the cursor of the next one.
    pub(crate) fn read_page(
        &mut self,
        mut page: Value,
        filter: &McpToolFilter,
    ) -> Result<Option<String>, McpFault> {
        let Some(Value::Array(entries)) = page.get_mut("tools").map(Value::take) else {
            return Err(McpFault::Malformed(LIST));
        };
        for entry in entries {
            let tool = McpTool::from_json(entry)?;
            // A name that is listed again must not pass a filter that its first entry does not.
            if !self.names.insert(tool.name.clone()) || !filter.allows(&tool) {
                continue;
            }
            self.bytes = self.bytes.saturating_add(tool.count_bytes());
            if TOOLS_MAX <= self.tools.len() || TOOL_BYTES_MAX < self.bytes {
                return Err(McpFault::TooManyTools);
            }
            self.tools.push(tool);
        }
        let cursor = page["nextCursor"].as_str().filter(|cursor| !cursor.is_empty());
        Ok(cursor.map(str::to_owned))
    }

    pub(crate) fn into_tools(self) -> Vec<McpTool> {
        self.tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Value {
        json!({"name": name, "inputSchema": {"type": "object"}})
    }

    fn read(page: Value, filter: &McpToolFilter) -> Result<Vec<String>, McpFault> {
        let mut reader = ToolListReader::default();
        reader.read_page(page, filter)?;
        Ok(reader.into_tools().into_iter().map(|tool| tool.name).collect())
    }

    #[test]
    fn a_list_is_filtered_before_it_is_bounded() {
        let many: Vec<Value> = (0..300).map(|number| tool(&format!("t{number}"))).collect();
        let page = json!({"tools": many});
        let all = McpToolFilter::default();
        assert_eq!(read(page.clone(), &all), Err(McpFault::TooManyTools));
        let two = vec!["t7".to_owned(), "t299".to_owned()];
        let filter = McpToolFilter { names: Some(two.clone()), ..McpToolFilter::default() };
        assert_eq!(read(page, &filter), Ok(two));
        let large = json!({"name": "a", "description": "x".repeat(TOOL_BYTES_MAX),
            "inputSchema": {}});
        assert_eq!(read(json!({"tools": [large]}), &all), Err(McpFault::TooManyTools));
    }

    #[test]
    fn only_tools_that_say_so_are_read_only() {
        let page = json!({"tools": [
            {"name": "get", "inputSchema": {}, "annotations": {"readOnlyHint": true}},
            {"name": "set", "inputSchema": {}, "annotations": {"readOnlyHint": "true"}},
            tool("other"), tool("get"),
        ]});
        let filter = |read_only| McpToolFilter { read_only, ..McpToolFilter::default() };
        assert_eq!(read(page.clone(), &filter(Some(true))).unwrap(), ["get"]);
        assert_eq!(read(page.clone(), &filter(Some(false))).unwrap(), ["set", "other"]);
        assert_eq!(read(page, &filter(None)).unwrap(), ["get", "set", "other"]);
    }

    #[test]
    fn entries_of_another_form_are_a_fault() {
        let all = McpToolFilter::default();
        let long = "n".repeat(TOOL_NAME_CHARS_MAX + 1);
        for entry in [json!(1), json!({"name": "a"}), tool(""), tool(&long), json!({"name": 1})] {
            let page = json!({"tools": [entry]});
            assert_eq!(read(page, &all), Err(McpFault::Malformed(LIST)), "{entry}");
        }
        assert_eq!(read(json!({}), &all), Err(McpFault::Malformed(LIST)));
    }

    #[test]
    fn a_digest_changes_with_the_description_and_not_with_the_order() {
        let digest = |entry: Value| McpTool::from_json(entry).unwrap().digest();
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let one = json!({"name": "t", "description": "d", "inputSchema": schema});
        let schema = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
        let two = json!({"input_schema": schema, "annotations": null, "description": "d",
            "name": "t"});
        assert_eq!(digest(one.clone()), digest(two));
        let mut changed = one.clone();
        changed["description"] = json!("d.");
        assert_ne!(digest(one.clone()), digest(changed));
        let mut changed = one.clone();
        changed["inputSchema"]["properties"]["b"] = json!({});
        assert_ne!(digest(one), digest(changed));
    }
}
