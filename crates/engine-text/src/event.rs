//! What comes out of a generation, in order.

/// One choice's events come in order; those of several choices are mixed.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More of the answer; never empty.
    Text {
        choice: u32,
        text: String,
        logprobs: Vec<TokenLogprob>,
    },
    /// A whole call; its arguments are JSON.
    ToolCall {
        choice: u32,
        name: String,
        arguments: String,
    },
    Finished {
        choice: u32,
        finish: Finish,
        usage: Usage,
    },
    /// The runtime failed; nothing more will come.
    Failed {
        cause: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Stop,
    /// The most tokens were written, or the context is full.
    Length,
    ToolCalls,
}

/// What one choice took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub prompt_tokens: u32,
    /// As many of the prompt's as were computed for an earlier request.
    pub cached_tokens: u32,
    pub completion_tokens: u32,
}

/// A token that was written and what else could have been.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    pub token: Logprob,
    pub alternatives: Vec<Logprob>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Logprob {
    pub bytes: Vec<u8>,
    pub logprob: f32,
}
