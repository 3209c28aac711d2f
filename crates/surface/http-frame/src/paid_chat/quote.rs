//! The maximum cost of a chat, calculated before it begins.

use domain::catalogue::TextSpec;
use domain::pricing::TokenPrice;
use engine::{ChatRequest, prompt_tokens};
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::{CurrencyFunds, WorkCost};

use super::{ChatCandidate, ExtraCharges, HoldPolicy};
use crate::refusal::context_excess::PromptSize;

/// Bound on an answer if neither the caller nor the model sets one.
const ANSWER_TOKENS_DEFAULT: u64 = 32_768;
/// A caller that cannot pay for this many tokens of answer is refused: a shorter one is useless.
const ANSWER_TOKENS_LEAST: u64 = 16;
/// Tokens reserved in the rate limit for an answer without a bound. Corrected at the end.
const ANSWER_TOKENS_RESERVED: u64 = 4_096;
/// Tokens that chat templates and tokenizers add to short prompts.
const PROMPT_TOKENS_SLACK: u64 = 16;

/// Token counts of one request: estimates and upper bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChatQuote {
    pub(super) prompt_estimate: u64,
    prompt_max: u64,
    /// Per choice.
    pub(super) answer_max: u64,
    /// For all prompts together.
    pub(super) choices: u64,
    pub(super) prompts: u64,
    /// Per prompt, with its answer.
    pub(super) context: u64,
    /// True if the largest possible prompt does not leave `answer_max` tokens of context.
    pub(super) may_exceed_context: bool,
    /// True if the caller bounded the answer, and that bound must be paid for in full.
    is_bounded: bool,
}

impl ChatQuote {
    pub(super) fn from_request(request: &ChatRequest, text: &TextSpec) -> ChatQuote {
        ChatQuote::from_prompt(request, text, request.completion_tokens_max)
    }

    /// The quote with `asked` as the caller's bound on the answer.
    fn from_prompt(request: &ChatRequest, text: &TextSpec, asked: Option<u64>) -> ChatQuote {
        let prompt_estimate = prompt_tokens(request);
        // For the texts it is worst at, the estimate is wrong by up to a third.
        let prompt_max = prompt_estimate + prompt_estimate / 2 + PROMPT_TOKENS_SLACK;
        let context = text.context_tokens;
        let prompts = u64::from(request.prompt_count());
        let room = |prompt: u64| context.saturating_sub(prompt / prompts).max(1);
        let model_max = match text.max_completion_tokens {
            // The engine keeps to this bound, so it is the worst case even for a shorter prompt.
            Some(max) => max.min(room(prompt_estimate / 2)),
            None => ANSWER_TOKENS_DEFAULT.min(room(prompt_estimate)),
        };
        let answer_max = asked.unwrap_or(model_max);
        ChatQuote {
            prompt_estimate,
            prompt_max: prompt_max.min(context.saturating_mul(prompts)),
            answer_max,
            may_exceed_context: room(prompt_max) < answer_max,
            choices: u64::from(request.choices_total()),
            prompts,
            context,
            is_bounded: asked.is_some(),
        }
    }

    /// A quote for a request whose bound on the answer is only an upper limit, cut to the model's.
    pub(super) fn from_upper_limit(request: &ChatRequest, text: &TextSpec) -> ChatQuote {
        let asked = request.completion_tokens_max;
        let unbounded = ChatQuote::from_prompt(request, text, None);
        let context_left =
            text.context_tokens.saturating_sub(unbounded.prompt_estimate / unbounded.prompts);
        let model_max = match (asked, text.max_completion_tokens) {
            (Some(_), None) => context_left.max(1),
            _ => unbounded.answer_max,
        };
        let answer_max = asked.map_or(model_max, |asked| asked.min(model_max));
        let quote = ChatQuote::from_prompt(request, text, Some(answer_max));
        ChatQuote { is_bounded: false, ..quote }
    }

    /// A quote of given numbers.
    #[cfg(test)]
    pub(super) const fn from_numbers(
        prompt: u64,
        answer_max: u64,
        choices: u64,
        context: u64,
    ) -> ChatQuote {
        let (prompt_estimate, prompt_max) = (prompt, prompt);
        let (prompts, is_bounded, may_exceed_context) = (1, true, false);
        ChatQuote {
            prompt_estimate,
            prompt_max,
            answer_max,
            choices,
            prompts,
            context,
            may_exceed_context,
            is_bounded,
        }
    }

    /// The request for the engine: with the model's bound on the answer if the caller set none.
    pub(super) fn bound_request(&self, request: ChatRequest, text: &TextSpec) -> ChatRequest {
        if self.is_bounded || text.max_completion_tokens.is_none() {
            return request;
        }
        ChatRequest {
            completion_tokens_max: Some(self.answer_max),
            may_exceed_context: self.may_exceed_context,
            ..request
        }
    }

    /// True if even half of the estimated prompt exceeds the context, so sending it is pointless.
    pub(super) fn exceeds_context(&self) -> bool {
        self.context < self.prompt_estimate / self.prompts / 2
    }

    pub(super) fn prompt_size(&self) -> PromptSize {
        PromptSize { estimate: self.prompt_estimate / self.prompts, context: self.context }
    }

    pub(super) fn overflow_message(&self, field: &str) -> String {
        format!(
            "This model's maximum context length is {} tokens. However, your {field} resulted in \
             about {} tokens. Please reduce the length of the {field}.",
            self.context,
            self.prompt_estimate / self.prompts,
        )
    }

    pub(super) fn tokens_reserved(&self) -> u64 {
        let answer = if self.is_bounded {
            self.answer_max
        } else {
            self.answer_max.min(ANSWER_TOKENS_RESERVED)
        };
        self.prompt_estimate.saturating_add(answer.saturating_mul(self.choices))
    }

    /// The tokens per choice that `funds` can pay for; None if the answer is free.
    pub(super) fn answer_within(&self, price: &TokenPrice, funds: CurrencyFunds) -> Option<u64> {
        self.tokens_within(price, funds).map(|tokens| tokens / self.choices)
    }

    /// The tokens for all choices together that `funds` can pay for; None if the answer is free.
    pub(super) fn tokens_within(&self, price: &TokenPrice, funds: CurrencyFunds) -> Option<u64> {
        price.completion_within(self.prompt_max, funds)
    }

    /// The maximum cost of the prompt with an answer of `tokens`, for all choices together.
    pub(super) fn cost_of(&self, price: &TokenPrice, tokens: u64) -> WorkCost {
        price.max_cost(self.prompt_max, tokens).capped(AMOUNT_MAX)
    }

    pub(super) fn max_cost(&self, price: &TokenPrice) -> WorkCost {
        self.cost_of(price, self.answer_max.saturating_mul(self.choices))
    }

    pub(super) fn min_cost(&self, price: &TokenPrice) -> WorkCost {
        let answer = self.answer_max.min(ANSWER_TOKENS_LEAST);
        self.cost_of(price, answer.saturating_mul(self.choices))
    }
}

/// The amount to hold: enough for any of the models. If the caller set no bound, less is accepted,
/// and the answer ends when the held money is used up.
pub(super) fn compute_hold(
    first: &ChatCandidate,
    others: &[ChatCandidate],
    extras: &ExtraCharges,
    policy: HoldPolicy,
) -> HoldRange {
    let own = first.quote.max_cost(&first.price);
    let most = others.iter().map(|it| it.quote.max_cost(&it.price)).fold(own, WorkCost::or_more);
    if first.quote.is_bounded && most == own {
        return HoldRange::Exactly(extras.add_to_cost(own));
    }
    let least =
        if first.quote.is_bounded { own } else { first.quote.min_cost(&first.price).or_less(own) };
    let (least, most) = (extras.add_to_cost(least), extras.add_to_cost(most));
    match policy {
        HoldPolicy::WholeAnswer => HoldRange::UpTo { least, most },
        HoldPolicy::ShareOfBalance => HoldRange::Share { least, most },
    }
}

#[cfg(test)]
pub(super) mod tests;
