//! The tools of a request as functions, for models that know nothing but functions, and the way back
//! from a call to the tool that was declared.

use std::collections::HashMap;
use std::sync::Arc;

use engine::ChatTool;
use mcp_client::McpTool;
use schema_check::{PathStep, ValidationFaults};
use serde_json::json;
use serde_json::value::to_raw_value;
use sha2::{Digest, Sha256};
use wire::chat::Function;
use wire::responses::{CustomToolFormat, ResponseTool};

use super::web::is_search_type;
use crate::endpoints::mcp_tools::function_name::build_function_name;

/// Name of the function that searches for tools.
const TOOL_SEARCH: &str = "tool_search";
/// The parameter of the function that stands for a custom tool.
pub(super) const CUSTOM_INPUT: &str = "input";
/// Tools that one request may offer, with those in namespaces and in the conversation.
const TOOLS_MAX: usize = 1024;
/// Names of functions have at most this many characters in chats.
const NAME_CHARS_MAX: usize = 64;
/// Hexadecimal digits of the digest at the end of a shortened name.
const DIGEST_DIGITS: usize = 8;

/// A tool as the caller declared it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DeclaredTool {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) form: CallForm,
}

/// The form in which a call is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CallForm {
    Function,
    Custom,
    ToolSearch,
    /// Calls of a tool of an MCP server, named by the namespace. The service makes them.
    Mcp,
    /// The same, for calls that the caller must approve before.
    McpApproval,
}

impl DeclaredTool {
    pub(super) fn tool_search() -> DeclaredTool {
        let (namespace, name) = (None, TOOL_SEARCH.to_owned());
        DeclaredTool { namespace, name, form: CallForm::ToolSearch }
    }

    /// The function's name in a chat, unless another tool has it.
    fn plain_name(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}__{}", self.name),
            None => self.name.clone(),
        }
    }

    /// A name of at most [`NAME_CHARS_MAX`] characters that no other tool has.
    fn shortened_name(&self) -> String {
        let mut digest = Sha256::new();
        for text in [self.namespace.as_deref().unwrap_or_default(), &self.name] {
            digest.update(text.as_bytes());
            digest.update([0]);
        }
        digest.update(format!("{:?}", self.form).as_bytes());
        let digest = digest.finalize();
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let allowed = self.plain_name();
        let allowed = allowed.chars().map(|it| if is_name_char(it) { it } else { '_' });
        let start: String = allowed.take(NAME_CHARS_MAX - DIGEST_DIGITS - 1).collect();
        format!("{start}_{}", digits.get(..DIGEST_DIGITS).unwrap_or_default())
    }
}

fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Names of functions with the tools that they stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct CallNames(Arc<HashMap<String, DeclaredTool>>);

impl CallNames {
    /// The tool that a call means. An unknown name is one of a function.
    pub(super) fn find(&self, name: &str) -> DeclaredTool {
        self.0.get(name).cloned().unwrap_or_else(|| DeclaredTool {
            namespace: None,
            name: name.to_owned(),
            form: CallForm::Function,
        })
    }
}

/// The place of a list of tools in the request.
#[derive(Debug, Clone)]
pub(super) struct ToolPlace {
    pub(super) path: Vec<PathStep>,
    /// True for items of the conversation, which may declare a tool again.
    pub(super) is_history: bool,
}

impl ToolPlace {
    fn child(&self, steps: impl IntoIterator<Item = PathStep>) -> ToolPlace {
        let path = self.path.iter().cloned().chain(steps).collect();
        ToolPlace { path, is_history: self.is_history }
    }

    fn push(&self, field: &str, message: &str, faults: &mut ValidationFaults) {
        faults.at(self.child([field.into()]).path).push(message);
    }
}

/// All tools that the model may call, in order.
#[derive(Debug, Default)]
pub(super) struct ToolTable {
    entries: Vec<ToolEntry>,
    /// Names of the functions, by tool.
    names: HashMap<DeclaredTool, String>,
    by_name: HashMap<String, DeclaredTool>,
    /// Types of tools that were left out, for the caller.
    dropped: Vec<String>,
}

#[derive(Debug)]
struct ToolEntry {
    tool: DeclaredTool,
    function: ChatTool,
}

impl ToolTable {
    /// Adds a list of tools, and returns the names of their functions.
    pub(super) fn add_tools(
        &mut self,
        tools: &[ResponseTool],
        place: &ToolPlace,
        faults: &mut ValidationFaults,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for (index, tool) in tools.iter().enumerate() {
            let place = place.child([index.into()]);
            self.add_tool(tool, None, &place, &mut names, faults);
        }
        names
    }

    fn add_tool(
        &mut self,
        tool: &ResponseTool,
        namespace: Option<&str>,
        place: &ToolPlace,
        names: &mut Vec<String>,
        faults: &mut ValidationFaults,
    ) {
        let name = tool.name.as_deref().or(tool.function.as_ref().map(|it| it.name.as_str()));
        let declare = |name: &str, form| DeclaredTool {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            form,
        };
        match (tool.kind.as_str(), name) {
            ("function" | "custom" | "namespace", None) => place.push("name", "Required", faults),
            ("function", Some(name)) => {
                let added = self.insert(declare(name, CallForm::Function), tool, place, faults);
                names.extend(added);
            }
            ("custom", Some(name)) => {
                let added = self.insert(declare(name, CallForm::Custom), tool, place, faults);
                names.extend(added);
            }
            ("namespace", Some(name)) if namespace.is_none() => {
                for (index, inner) in tool.tools.iter().flatten().enumerate() {
                    let place = place.child(["tools".into(), index.into()]);
                    self.add_tool(inner, Some(name), &place, names, faults);
                }
            }
            (_, _) if namespace.is_some() => {
                let message = "A namespace may hold functions and custom tools only";
                place.push("type", message, faults);
            }
            ("tool_search", _) if tool.execution.as_deref() == Some("client") => {
                names.extend(self.insert(DeclaredTool::tool_search(), tool, place, faults));
            }
            // Their tools are added once their servers have listed them.
            ("mcp", _) if !place.is_history => {}
            ("tool_search", _) => {
                let message = "This service does not search tools; send `client`, and search them";
                place.push("execution", message, faults);
            }
            (kind, _) => self.leave_out(kind, place, faults),
        }
    }

    /// Leaves out a type of tools. Those of the request that need a refusal have one already
    /// (`unsupported`).
    fn leave_out(&mut self, kind: &str, place: &ToolPlace, faults: &mut ValidationFaults) {
        if place.is_history {
            let message = format!("Tools of type `{}` are not supported here", shorten(kind));
            return place.push("type", &message, faults);
        }
        let is_plain = kind.len() <= NAME_CHARS_MAX && kind.chars().all(is_name_char);
        let name = if is_plain { format!("tools.{kind}") } else { "tools".to_owned() };
        if !is_search_type(kind) && kind != super::web::X_SEARCH && !self.dropped.contains(&name) {
            self.dropped.push(name);
        }
    }

    /// Adds one tool, unless it is known. Returns the name of its function.
    fn insert(
        &mut self,
        tool: DeclaredTool,
        source: &ResponseTool,
        place: &ToolPlace,
        faults: &mut ValidationFaults,
    ) -> Option<String> {
        if let Some(known) = self.names.get(&tool) {
            if !place.is_history {
                place.push("name", "Another tool has this name", faults);
            }
            return Some(known.clone());
        }
        if TOOLS_MAX <= self.entries.len() {
            let message = format!("At most {TOOLS_MAX} tools may be offered");
            faults.at(place.path.clone()).push(message);
            return None;
        }
        let plain = tool.plain_name();
        let is_long = tool.namespace.is_some() && !is_chat_name(&plain);
        let is_taken = self.by_name.contains_key(&plain);
        let name = if is_long || is_taken { tool.shortened_name() } else { plain };
        let function = build_function(name.clone(), tool.form, source);
        self.names.insert(tool.clone(), name.clone());
        self.by_name.insert(name.clone(), tool.clone());
        self.entries.push(ToolEntry { tool, function });
        Some(name)
    }

    /// Adds a tool of an MCP server. Returns the name of its function; None if there are too many.
    pub(super) fn insert_mcp(
        &mut self,
        label: &str,
        tool: &McpTool,
        needs_approval: bool,
    ) -> Option<String> {
        if TOOLS_MAX <= self.entries.len() {
            return None;
        }
        let is_taken = |name: &str| self.by_name.contains_key(name);
        let name = build_function_name(label, &tool.name, is_taken);
        let form = if needs_approval { CallForm::McpApproval } else { CallForm::Mcp };
        let (namespace, tool_name) = (Some(label.to_owned()), tool.name.clone());
        let declared = DeclaredTool { namespace, name: tool_name, form };
        let function = ChatTool {
            name: name.clone(),
            description: tool.description.clone(),
            parameters: to_raw_value(&tool.input_schema).ok(),
            strict: None,
        };
        self.names.insert(declared.clone(), name.clone());
        self.by_name.insert(name.clone(), declared.clone());
        self.entries.push(ToolEntry { tool: declared, function });
        Some(name)
    }

    /// Offers only the tools of this MCP server.
    pub(super) fn retain_mcp(&mut self, label: &str) {
        self.entries.retain(|entry| {
            let is_mcp = matches!(entry.tool.form, CallForm::Mcp | CallForm::McpApproval);
            is_mcp && entry.tool.namespace.as_deref() == Some(label)
        });
    }

    /// The functions that are offered.
    pub(super) fn list_functions(&self) -> Vec<ChatTool> {
        self.entries.iter().map(|entry| entry.function.clone()).collect()
    }

    pub(super) fn contains(&self, tool: &DeclaredTool) -> bool {
        self.names.contains_key(tool)
    }

    /// The name of a tool's function, also for tools of the conversation that are not offered.
    pub(super) fn function_name(&self, tool: &DeclaredTool) -> String {
        self.names.get(tool).cloned().unwrap_or_else(|| {
            let plain = tool.plain_name();
            let is_long = tool.namespace.is_some() && !is_chat_name(&plain);
            if is_long { tool.shortened_name() } else { plain }
        })
    }

    /// Offers only these tools.
    pub(super) fn retain_tools(&mut self, allowed: &[DeclaredTool]) {
        self.entries.retain(|entry| allowed.contains(&entry.tool));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes the types of tools that were left out.
    pub(super) fn take_dropped(&mut self) -> Vec<String> {
        std::mem::take(&mut self.dropped)
    }

    pub(super) fn into_call_names(self) -> CallNames {
        CallNames(Arc::new(self.by_name))
    }
}

fn is_chat_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX && name.chars().all(is_name_char)
}

/// The start of a caller's text, for a message.
pub(super) fn shorten(text: &str) -> String {
    text.chars().take(NAME_CHARS_MAX).collect()
}

fn build_function(name: String, form: CallForm, source: &ResponseTool) -> ChatTool {
    let ResponseTool { description, parameters, strict, function, format, .. } = source;
    match (form, function) {
        (CallForm::Custom, _) => ChatTool {
            name,
            description: describe_custom(description.as_deref(), format.as_ref()),
            parameters: to_raw_value(&json!({
                "type": "object",
                "properties": { CUSTOM_INPUT: { "type": "string" } },
                "required": [CUSTOM_INPUT],
                "additionalProperties": false,
            }))
            .ok(),
            strict: None,
        },
        (_, Some(Function { description, parameters, strict, .. })) => ChatTool {
            name,
            description: description.clone(),
            parameters: parameters.as_ref().and_then(|schema| to_raw_value(schema).ok()),
            strict: *strict,
        },
        (_, None) => ChatTool {
            name,
            description: description.clone(),
            parameters: parameters.as_ref().and_then(|schema| to_raw_value(schema).ok()),
            strict: *strict,
        },
    }
}

/// The description of a custom tool with its grammar, which a function cannot have.
fn describe_custom(description: Option<&str>, format: Option<&CustomToolFormat>) -> Option<String> {
    let grammar = format.and_then(|format| {
        let definition = format.definition.as_deref()?;
        let syntax = format.syntax.as_deref().unwrap_or("lark");
        Some(format!(
            "The text of `{CUSTOM_INPUT}` must match this {syntax} grammar:\n{definition}"
        ))
    });
    let texts: Vec<&str> = description.into_iter().chain(grammar.as_deref()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests;
