//! What a chat may cost at most, before any of it is done.

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::TextSpec;
use domain::pricing::TokenPrice;
use engine::{ChatRequest, prompt_tokens};
use money::{Cost, Means};

use super::{Candidate, Extras};

/// The length of an answer that neither its caller nor its model bounds.
const ANSWER_TOKENS_DEFAULT: u64 = 32_768;
/// An account that cannot pay for an answer of this length is refused: a shorter one is of no use.
const ANSWER_TOKENS_LEAST: u64 = 16;
/// What an answer without a bound is taken to need when tokens a minute are counted. It is
/// corrected when the answer is there.
const ANSWER_TOKENS_RESERVED: u64 = 4_096;
/// What chat templates and tokenizers add to short prompts.
const PROMPT_TOKENS_SLACK: u64 = 16;

/// The tokens of one request: estimated, and at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quote {
    pub(super) prompt_estimate: u64,
    prompt_max: u64,
    /// For each choice.
    pub(super) answer_max: u64,
    /// Of all prompts together.
    pub(super) choices: u64,
    pub(super) prompts: u64,
    /// For each prompt and its answer.
    pub(super) context: u64,
    /// The prompt at its largest does not leave that much room for an answer.
    may_exceed_context: bool,
    /// The caller said how long an answer may be.
    is_bounded: bool,
}

impl Quote {
    pub(super) fn of(request: &ChatRequest, text: &TextSpec) -> Quote {
        let prompt_estimate = prompt_tokens(request);
        // The estimate is within a third for the texts it is worst at.
        let prompt_max = prompt_estimate + prompt_estimate / 2 + PROMPT_TOKENS_SLACK;
        let context = text.context_tokens;
        let prompts = u64::from(request.prompts());
        let room = |prompt: u64| context.saturating_sub(prompt / prompts).max(1);
        let model_max = match text.max_completion_tokens {
            // The engine keeps to it, so this is the worst, however short the prompt turns out.
            Some(max) => max.min(room(prompt_estimate / 2)),
            None => ANSWER_TOKENS_DEFAULT.min(room(prompt_estimate)),
        };
        let answer_max = request.completion_tokens_max.unwrap_or(model_max);
        Quote {
            prompt_estimate,
            prompt_max: prompt_max.min(context.saturating_mul(prompts)),
            answer_max,
            may_exceed_context: room(prompt_max) < answer_max,
            choices: u64::from(request.choices_total()),
            prompts,
            context,
            is_bounded: request.completion_tokens_max.is_some(),
        }
    }

    /// A quote by its numbers.
    #[cfg(test)]
    pub(super) const fn plain(prompt: u64, answer_max: u64, choices: u64, context: u64) -> Quote {
        let (prompt_estimate, prompt_max) = (prompt, prompt);
        let (prompts, is_bounded, may_exceed_context) = (1, true, false);
        Quote {
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

    /// The request as its engine gets it: where the caller named no bound on the answer, the
    /// model's own stands in it.
    pub(super) fn bound(&self, request: ChatRequest, text: &TextSpec) -> ChatRequest {
        if self.is_bounded || text.max_completion_tokens.is_none() {
            return request;
        }
        ChatRequest {
            completion_tokens_max: Some(self.answer_max),
            may_exceed_context: self.may_exceed_context,
            ..request
        }
    }

    /// Even half of the estimate does not fit: not worth sending to an engine.
    pub(super) fn is_hopeless(&self) -> bool {
        self.context < self.prompt_estimate / self.prompts / 2
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

    /// How long each choice may be for `funds`; no number if the answer is free.
    pub(super) fn answer_within(&self, price: &TokenPrice, funds: Means) -> Option<u64> {
        price.completion_within(self.prompt_max, funds).map(|tokens| tokens / self.choices)
    }

    fn most(&self, price: &TokenPrice) -> Cost {
        price.most(self.prompt_max, self.answer_max.saturating_mul(self.choices)).capped(AMOUNT_MAX)
    }

    fn least(&self, price: &TokenPrice) -> Cost {
        let answer = self.answer_max.min(ANSWER_TOKENS_LEAST);
        price.most(self.prompt_max, answer.saturating_mul(self.choices)).capped(AMOUNT_MAX)
    }
}

/// How much to hold: enough for whichever model answers. Where the caller set no bound, less will
/// do, and the answer ends when the money does: nobody asked for all that the model would give.
pub(super) fn want(first: &Candidate, others: &[Candidate], extras: &Extras) -> Want {
    let own = first.quote.most(&first.price);
    let most = others.iter().map(|it| it.quote.most(&it.price)).fold(own, Cost::or_more);
    if first.quote.is_bounded && most == own {
        return Want::Exactly(extras.plus(own));
    }
    let least =
        if first.quote.is_bounded { own } else { first.quote.least(&first.price).or_less(own) };
    Want::UpTo { least: extras.plus(least), most: extras.plus(most) }
}

#[cfg(test)]
pub(super) mod tests;
