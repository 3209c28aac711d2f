//! Where servers that call themselves OpenAI-compatible differ.

/// What an OpenAI-style server takes. The default fits vLLM, SGLang and llama.cpp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Knows `stream_options.include_usage`; without it a stream's tokens must be counted here.
    pub takes_stream_options: bool,
    /// Knows `n`; otherwise it is asked once per choice.
    pub takes_choices: bool,
    /// Continues a list of texts at once; otherwise it is asked once per text.
    pub takes_prompts: bool,
    /// Knows `tool_choice`; otherwise a request that forces a call is refused.
    pub takes_tool_choice: bool,
    /// Takes fields outside OpenAI's own: `top_k`, `min_p`, `cache_control`, unknown ones.
    pub takes_extensions: bool,
    /// Ends at its context where the bound on the answer goes beyond; otherwise it refuses that.
    pub ends_at_context: bool,
    /// Enlarges pictures, cuts them out and judges them, at addresses of its own.
    pub has_picture_tools: bool,
    pub output_cap: OutputCap,
    pub reasoning: ReasoningStyle,
}

/// The field that bounds the answer's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputCap {
    MaxTokens,
    MaxCompletionTokens,
}

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningStyle {
    /// `reasoning_effort` with OpenAI's words, from `none` to `xhigh`.
    Effort,
    /// `reasoning_effort` of none, low, medium or high.
    Steps,
    /// `reasoning: {effort, enabled}`.
    Object,
    /// `reasoning_effort` of low, medium or high, and a switch in `chat_template_kwargs`.
    Template,
}

impl Quirks {
    pub const VLLM: Quirks = Quirks {
        takes_stream_options: true,
        takes_choices: true,
        takes_prompts: true,
        takes_tool_choice: true,
        takes_extensions: true,
        ends_at_context: false,
        has_picture_tools: false,
        output_cap: OutputCap::MaxTokens,
        reasoning: ReasoningStyle::Template,
    };

    pub const OPENAI: Quirks = Quirks {
        takes_extensions: false,
        output_cap: OutputCap::MaxCompletionTokens,
        reasoning: ReasoningStyle::Effort,
        ..Quirks::VLLM
    };

    pub const OPENROUTER: Quirks = Quirks {
        // It forwards to other providers, and most of those give one choice only.
        takes_choices: false,
        reasoning: ReasoningStyle::Object,
        ..Quirks::VLLM
    };

    pub const OLLAMA: Quirks = Quirks {
        takes_choices: false,
        takes_tool_choice: false,
        reasoning: ReasoningStyle::Steps,
        ..Quirks::VLLM
    };

    /// The engine that comes with the service.
    pub const BUILT_IN: Quirks = Quirks {
        takes_prompts: false,
        ends_at_context: true,
        has_picture_tools: true,
        ..Quirks::VLLM
    };

    /// The names an operator can give.
    pub const NAMES: [&str; 6] = ["vllm", "sglang", "llamacpp", "ollama", "openrouter", "openai"];

    pub fn named(name: &str) -> Option<Quirks> {
        match name {
            "vllm" | "sglang" | "llamacpp" => Some(Quirks::VLLM),
            "ollama" => Some(Quirks::OLLAMA),
            "openrouter" => Some(Quirks::OPENROUTER),
            "openai" => Some(Quirks::OPENAI),
            _ => None,
        }
    }
}

impl Default for Quirks {
    fn default() -> Quirks {
        Quirks::VLLM
    }
}
