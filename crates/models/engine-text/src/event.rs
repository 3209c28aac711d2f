//! The events of a generation.

/// Events of one choice are in order; those of several choices are interleaved.
#[derive(Debug, Clone, PartialEq)]
pub enum GenerationEvent {
    /// Further text of the answer; never empty.
    Text { choice: u32, text: String, logprobs: Vec<TokenLogprob> },
    /// A complete tool call; its arguments are JSON.
    ToolCall { choice: u32, name: String, arguments: String },
    Finished {
        choice: u32,
        finish: FinishCause,
        /// The stop string that ended the choice.
        stop_match: Option<String>,
        usage: ChoiceUsage,
    },
    /// The runtime failed; no event follows.
    Failed { cause: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishCause {
    Stop,
    /// The token limit was reached, or the context is full.
    Length,
    ToolCalls,
}

/// Token usage of one choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChoiceUsage {
    pub prompt_tokens: u32,
    /// Prompt tokens that were already in the prompt cache.
    pub cached_tokens: u32,
    pub completion_tokens: u32,
}

/// A generated token and its alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    pub token: CandidateLogprob,
    pub alternatives: Vec<CandidateLogprob>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CandidateLogprob {
    pub bytes: Vec<u8>,
    pub logprob: f32,
}
