//! Reasons to reject a request.

/// The messages are for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextRefusal {
    #[error(
        "This model's maximum context length is {context_tokens} tokens, and the prompt has \
         {prompt_tokens}. Shorten the prompt."
    )]
    ContextOverflow { context_tokens: u32, prompt_tokens: u32 },
    /// The request is invalid.
    #[error("{message}")]
    Invalid { param: &'static str, message: String },
    #[error("The queue of the engine is full. Try again in a moment.")]
    Overloaded,
    /// The model was unloaded, or its thread died.
    #[error("The model failed. Try again.")]
    Stopped,
}

impl TextRefusal {
    pub(crate) fn invalid(param: &'static str, message: impl Into<String>) -> TextRefusal {
        TextRefusal::Invalid { param, message: message.into() }
    }
}
