//! Differences between servers that call themselves OpenAI-compatible.

/// The features that an OpenAI-style server supports. The default fits vLLM, SGLang and llama.cpp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerQuirks {
    /// Supports `stream_options.include_usage`; otherwise a stream's tokens are estimated here.
    pub takes_stream_options: bool,
    /// Supports `n`; otherwise one request is sent per choice.
    pub takes_choices: bool,
    /// Supports a list of prompts; otherwise one request is sent per prompt.
    pub takes_prompts: bool,
    /// Supports `tool_choice`; otherwise a request that forces a call is rejected.
    pub takes_tool_choice: bool,
    /// Accepts fields that OpenAI does not define: `top_k`, `min_p`, `cache_control`, unknown ones.
    pub takes_extensions: bool,
    /// Stops at the end of its context if the token limit exceeds it; otherwise it rejects such a
    /// limit.
    pub ends_at_context: bool,
    /// Has endpoints to upscale images, remove backgrounds and classify images.
    pub has_picture_tools: bool,
    /// Has an endpoint that counts the tokens of a chat: `/chat/tokens`.
    pub counts_prompts: bool,
    /// The endpoint for chats.
    pub chat_api: OpenAiChatApi,
    pub output_cap: OutputCap,
    pub reasoning: ReasoningStyle,
}

/// The API of an OpenAI-style server that serves chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAiChatApi {
    /// `/chat/completions`, and `/completions` for texts.
    Completions,
    /// `/responses`.
    Responses,
}

/// The field that limits the answer's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputCap {
    MaxTokens,
    MaxCompletionTokens,
}

/// The fields that control reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningStyle {
    /// `reasoning_effort` with OpenAI's values, from `none` to `xhigh`.
    Effort,
    /// `reasoning_effort` with none, low, medium or high.
    Steps,
    /// `reasoning: {effort, enabled}`.
    Object,
    /// `reasoning_effort` with low, medium or high, and a switch in `chat_template_kwargs`.
    Template,
}

impl ServerQuirks {
    pub const VLLM: ServerQuirks = ServerQuirks {
        takes_stream_options: true,
        takes_choices: true,
        takes_prompts: true,
        takes_tool_choice: true,
        takes_extensions: true,
        ends_at_context: false,
        has_picture_tools: false,
        counts_prompts: false,
        chat_api: OpenAiChatApi::Completions,
        output_cap: OutputCap::MaxTokens,
        reasoning: ReasoningStyle::Template,
    };

    pub const OPENAI: ServerQuirks = ServerQuirks {
        takes_extensions: false,
        output_cap: OutputCap::MaxCompletionTokens,
        reasoning: ReasoningStyle::Effort,
        ..ServerQuirks::VLLM
    };

    pub const OPENROUTER: ServerQuirks = ServerQuirks {
        // It forwards to other providers, most of which return only one choice.
        takes_choices: false,
        reasoning: ReasoningStyle::Object,
        ..ServerQuirks::VLLM
    };

    pub const OLLAMA: ServerQuirks = ServerQuirks {
        takes_choices: false,
        takes_tool_choice: false,
        reasoning: ReasoningStyle::Steps,
        ..ServerQuirks::VLLM
    };

    /// The built-in engine.
    pub const BUILT_IN: ServerQuirks = ServerQuirks {
        takes_prompts: false,
        ends_at_context: true,
        has_picture_tools: true,
        counts_prompts: true,
        ..ServerQuirks::VLLM
    };

    /// The names that the operator can configure.
    pub const NAMES: [&str; 6] = ["vllm", "sglang", "llamacpp", "ollama", "openrouter", "openai"];

    pub fn from_name(name: &str) -> Option<ServerQuirks> {
        match name {
            "vllm" | "sglang" | "llamacpp" => Some(ServerQuirks::VLLM),
            "ollama" => Some(ServerQuirks::OLLAMA),
            "openrouter" => Some(ServerQuirks::OPENROUTER),
            "openai" => Some(ServerQuirks::OPENAI),
            _ => None,
        }
    }
}

impl Default for ServerQuirks {
    fn default() -> ServerQuirks {
        ServerQuirks::VLLM
    }
}
