//! Amounts of money held for an answer, and the meaning of the caller's bound on it.

use std::sync::Arc;

use engine::ChatRequest;

use super::ChatCandidate;
use super::quote::ChatQuote;

/// The amount held before an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldPolicy {
    /// The cost of the longest answer. A bound of the caller is a wish for that length: it is
    /// reserved in the rate limit and must be paid for in full.
    WholeAnswer,
    /// A share of the balance, topped up while the answer is streamed, so that several agents of
    /// one account can work at the same time. A bound of the caller is only an upper limit: it is
    /// cut to the model's, and an answer that uses up the balance ends with
    /// [`InferenceFailure::FundsUsedUp`](crate::refusal::inference::InferenceFailure::FundsUsedUp).
    ShareOfBalance,
}

impl HoldPolicy {
    /// The policy for callers that need not bound an answer: a bound that they set is held for.
    pub fn for_chat(chat: &ChatRequest) -> HoldPolicy {
        match chat.completion_tokens_max {
            Some(_) => HoldPolicy::WholeAnswer,
            None => HoldPolicy::ShareOfBalance,
        }
    }
}

impl ChatCandidate {
    /// The candidate with its bound on the answer as the policy reads it.
    pub(super) fn with_policy(self, policy: HoldPolicy) -> ChatCandidate {
        let (HoldPolicy::ShareOfBalance, Some(text)) = (policy, self.model.text_spec()) else {
            return self;
        };
        let quote = ChatQuote::from_upper_limit(&self.request, text);
        let is_bounded = self.request.completion_tokens_max.is_some();
        let request = Arc::new(ChatRequest {
            completion_tokens_max: is_bounded.then_some(quote.answer_max),
            may_exceed_context: is_bounded && quote.may_exceed_context,
            ..ChatRequest::clone(&self.request)
        });
        ChatCandidate { request, quote, ..self }
    }
}
