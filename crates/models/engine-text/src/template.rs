//! The chat template of a GGUF file: Jinja as used by Hugging Face.

mod python;

use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::Value;

use crate::conversation;
use crate::refusal::TextRefusal;
use crate::request::ChatPrompt;

/// ChatML, for files without a template; most models know it.
const CHATML: &str = "{%- for message in messages -%}\
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}\
    {%- endfor -%}\
    {%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}";

const NAME: &str = "chat";

#[derive(Debug)]
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    special: SpecialTokens,
    /// True if the template explains tools and calls to the model.
    has_tool_calls: bool,
}

/// Texts of the special tokens that templates print.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpecialTokens {
    pub(crate) begin: String,
    pub(crate) end: String,
}

impl ChatTemplate {
    /// The error describes the fault in the template.
    pub(crate) fn new(
        source: Option<&str>,
        special: SpecialTokens,
    ) -> Result<ChatTemplate, String> {
        let source = source.unwrap_or(CHATML);
        let mut environment = python::build_environment();
        environment
            .add_template_owned(NAME, without_generation_marks(source))
            .map_err(|error| format!("{error:#}"))?;
        let has_tool_calls = source.contains("tools") && source.contains(crate::tools::BEGIN);
        Ok(ChatTemplate { environment, special, has_tool_calls })
    }

    pub(crate) fn has_tool_calls(&self) -> bool {
        self.has_tool_calls
    }

    /// Renders the prompt up to the start of the assistant's answer.
    pub(crate) fn render(&self, chat: &ChatPrompt, now_s: i64) -> Result<String, TextRefusal> {
        let messages = conversation::convert_messages(&chat.messages)?;
        let tools = conversation::convert_tools(&chat.tools);
        let mut variables = chat.switches.clone();
        // Ours come last, so that the caller's cannot override them.
        variables.extend([
            ("messages".to_owned(), messages.into()),
            ("tools".to_owned(), if tools.is_empty() { Value::Null } else { tools.into() }),
            ("add_generation_prompt".to_owned(), true.into()),
            ("bos_token".to_owned(), self.special.begin.as_str().into()),
            ("eos_token".to_owned(), self.special.end.as_str().into()),
            (python::NOW.to_owned(), now_s.into()),
        ]);
        let template = self.environment.get_template(NAME);
        let written = template.and_then(|template| template.render(Serde(variables)));
        // Errors here are the caller's: an order of roles that the template rejects.
        written.map_err(|error| {
            let cause = error.detail().map_or_else(|| error.to_string(), str::to_owned);
            TextRefusal::invalid(
                "messages",
                format!("The model's template refuses this chat: {cause}"),
            )
        })
    }
}

/// Removes `generation` tags, which mark assistant text for training and are not Jinja.
fn without_generation_marks(source: &str) -> String {
    let mut source = source.to_owned();
    for word in ["generation", "endgeneration"] {
        for (begin, end) in [("{%", "%}"), ("{%-", "%}"), ("{%", "-%}"), ("{%-", "-%}")] {
            source = source.replace(&format!("{begin} {word} {end}"), "");
        }
    }
    source
}

#[cfg(test)]
mod tests;
