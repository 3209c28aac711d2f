//! Tools that a conversation adds, removes or refers to.

use std::collections::{HashMap, HashSet};

use schema_check::ValidationFaults;
use serde_json::{Map, Value};
use wire::messages::MessagesTool;

use super::fields::{FieldPath, REQUIRED, describe_unknown_tag, read_text};

/// The changes up to the end of the conversation.
#[derive(Debug, Default)]
pub(super) struct ToolChanges {
    /// Names of tools that were referred to, and may therefore be offered.
    referenced: HashSet<String>,
    removed: HashSet<String>,
    /// Tools that were defined in the conversation, with their order.
    defined: HashMap<String, DefinedTool>,
}

#[derive(Debug)]
struct DefinedTool {
    position: usize,
    tool: MessagesTool,
}

impl ToolChanges {
    /// A result that refers to a tool makes it available.
    pub(super) fn add_reference(&mut self, name: &str) {
        self.referenced.insert(name.to_owned());
    }

    /// Reads the `tool` of a `tool_addition` or `tool_removal` block.
    pub(super) fn read_change(
        &mut self,
        mut fields: Map<String, Value>,
        is_added: bool,
        path: &FieldPath,
        faults: &mut ValidationFaults,
    ) {
        let path = path.join("tool");
        let Some(Value::Object(mut tool)) = fields.get_mut("tool").map(Value::take) else {
            return path.push_fault(faults, REQUIRED);
        };
        let kind = read_text(&tool, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "tool_reference" => match read_text(&tool, "name").or(read_text(&tool, "tool_name")) {
                Some(name) => self.change(name.to_owned(), is_added),
                None => path.join("name").push_fault(faults, REQUIRED),
            },
            "tool_definition" if is_added => {
                let definition = tool.get_mut("definition").map(Value::take).unwrap_or_default();
                self.define(definition, &path.join("definition"), faults);
            }
            _ => {
                let expected = ["tool_definition", "tool_reference"];
                path.push_fault(faults, describe_unknown_tag(&kind, &expected));
            }
        }
    }

    /// The tools to offer: those of the request that are not deferred or were referred to, and those
    /// that the conversation defined, without the removed ones.
    pub(super) fn apply(self, tools: Vec<MessagesTool>) -> Vec<MessagesTool> {
        let ToolChanges { referenced, removed, mut defined } = self;
        let mut offered = Vec::new();
        for tool in tools {
            let name = tool.name.as_deref().unwrap_or_default();
            let replacement = defined.remove(name);
            let is_loaded = tool.defer_loading != Some(true) || referenced.contains(name);
            if removed.contains(name) || !(is_loaded || replacement.is_some()) {
                continue;
            }
            offered.push(replacement.map_or(tool, |it| it.tool));
        }
        let mut added: Vec<DefinedTool> = defined.into_values().collect();
        added.sort_by_key(|it| it.position);
        let is_kept =
            |it: &DefinedTool| it.tool.name.as_ref().is_none_or(|it| !removed.contains(it));
        offered.extend(added.into_iter().filter(is_kept).map(|it| it.tool));
        offered
    }

    fn change(&mut self, name: String, is_added: bool) {
        if is_added {
            self.removed.remove(&name);
            self.referenced.insert(name);
        } else {
            self.removed.insert(name);
        }
    }

    fn define(&mut self, definition: Value, path: &FieldPath, faults: &mut ValidationFaults) {
        let Ok(tool) = serde_json::from_value::<MessagesTool>(definition) else {
            return path.push_fault(faults, "Input should be a tool");
        };
        let Some(name) = tool.name.clone() else {
            return path.join("name").push_fault(faults, REQUIRED);
        };
        self.removed.remove(&name);
        let position = self.defined.len();
        self.defined.insert(name, DefinedTool { position, tool });
    }
}
