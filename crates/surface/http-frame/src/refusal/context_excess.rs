//! The size of a prompt that does not fit into its model's context.

use std::fmt;

use engine::EngineError;

use super::inference::InferenceFailure;
use super::render::RefusalDetail;

/// A prompt's tokens and the model's context; the prompt is always the larger number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextExcess {
    pub prompt_tokens: u64,
    pub context_tokens: u64,
}

/// The words by which clients of Anthropic's API recognise an overflow and compact their history.
impl fmt::Display for ContextExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ContextExcess { prompt_tokens, context_tokens } = self;
        write!(f, "prompt is too long: {prompt_tokens} tokens > {context_tokens} maximum")
    }
}

/// Our estimate of a prompt, and the context of its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PromptSize {
    pub(crate) estimate: u64,
    pub(crate) context: u64,
}

impl PromptSize {
    /// The excess by our own numbers. An estimate within the context is raised above it, because
    /// the engine has counted more.
    pub(crate) fn to_excess(self) -> ContextExcess {
        let prompt_tokens = self.estimate.max(self.context.saturating_add(1));
        ContextExcess { prompt_tokens, context_tokens: self.context }
    }

    /// The fact to attach to the refusal of `failure`: the numbers in the engine's message, or ours.
    pub(crate) fn find_detail(self, failure: &InferenceFailure) -> Option<RefusalDetail> {
        match failure {
            InferenceFailure::Engine(EngineError::ContextOverflow { message }) => {
                let excess = parse_excess(message).unwrap_or_else(|| self.to_excess());
                Some(RefusalDetail::ContextExcess(excess))
            }
            InferenceFailure::Engine(EngineError::ServiceOverloaded { .. }) => {
                Some(RefusalDetail::ServiceOverloaded)
            }
            _ => None,
        }
    }
}

/// Reads `N tokens > M maximum`.
fn parse_excess(message: &str) -> Option<ContextExcess> {
    let (before, after) = message.split_once(" tokens > ")?;
    let prompt_tokens = before.rsplit(|it: char| !it.is_ascii_digit()).next()?.parse().ok()?;
    let context_tokens = after.split_once(" maximum")?.0.parse().ok()?;
    let excess = ContextExcess { prompt_tokens, context_tokens };
    (context_tokens < prompt_tokens).then_some(excess)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overflow(message: &str) -> InferenceFailure {
        let message = message.to_owned();
        InferenceFailure::Engine(EngineError::ContextOverflow { message })
    }

    #[track_caller]
    fn check(message: &str, expected: &str) {
        let size = PromptSize { estimate: 90, context: 100 };
        let Some(RefusalDetail::ContextExcess(excess)) = size.find_detail(&overflow(message))
        else {
            panic!("{message} has no numbers");
        };
        assert_eq!(excess.to_string(), expected);
    }

    #[test]
    fn an_overflow_has_the_numbers_of_the_engine_or_else_ours() {
        check(
            "prompt is too long: 210000 tokens > 200000 maximum",
            "prompt is too long: 210000 tokens > 200000 maximum",
        );
        let ours = "prompt is too long: 101 tokens > 100 maximum";
        check("This model's maximum context length is 100 tokens.", ours);
        check("prompt is too long: 5 tokens > 100 maximum", ours);
        check("prompt is too long:  tokens > 99999999999999999999999 maximum", ours);
    }

    #[test]
    fn only_an_overflow_and_an_overloaded_service_have_a_fact() {
        let size = PromptSize { estimate: 1, context: 2 };
        let find = |error| size.find_detail(&InferenceFailure::Engine(error));
        assert_eq!(find(EngineError::Overloaded { retry_after: None }), None);
        assert_eq!(
            find(EngineError::ServiceOverloaded { retry_after: None }),
            Some(RefusalDetail::ServiceOverloaded)
        );
    }
}
