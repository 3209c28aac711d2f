//! The tokens of answer that the held money pays for, raised while the answer is streamed.

use ledger_core::HoldRange;
use money::WorkCost;

use super::{ChatCandidate, ExtraCharges, HoldPolicy};
use crate::paid_work::HeldFunds;

/// Tokens before the end of the held money at which more is held. Our count may also be a fifth too
/// low, so a fifth of it is added.
const AHEAD_TOKENS: u64 = 64;
const AHEAD_DIVISOR: u64 = 5;
/// The least that a raise asks for, in tokens of answer.
const RAISE_TOKENS: u64 = 256;
/// Tokens between two attempts after one that added nothing.
const RETRY_TOKENS: u64 = 64;

/// The money of one answer, seen as tokens.
pub(super) struct AnswerBudget<'a> {
    candidate: &'a ChatCandidate,
    extras: &'a ExtraCharges,
    /// False if all money is held from the beginning.
    is_raised: bool,
    /// The bound on the answer, for all choices together.
    answer_max: u64,
    /// Tokens that the held money pays for; None if the answer is free.
    paid: Option<u64>,
    /// No raise is attempted below this count.
    retry_at: u64,
}

impl<'a> AnswerBudget<'a> {
    pub(super) fn new(
        candidate: &'a ChatCandidate,
        extras: &'a ExtraCharges,
        policy: HoldPolicy,
        funds: &HeldFunds,
    ) -> AnswerBudget<'a> {
        let quote = &candidate.quote;
        let mut budget = AnswerBudget {
            candidate,
            extras,
            is_raised: policy == HoldPolicy::ShareOfBalance,
            answer_max: quote.answer_max.saturating_mul(quote.choices),
            paid: None,
            retry_at: 0,
        };
        budget.count_paid(funds);
        budget
    }

    /// Holds the money for the whole answer, as far as it is available.
    pub(super) fn cover_whole_answer(&mut self, funds: &mut HeldFunds) {
        let Some(paid) = self.paid.filter(|paid| self.is_raised && *paid < self.answer_max) else {
            return;
        };
        let most = self.cost_between(paid, self.answer_max);
        funds.raise(HoldRange::UpTo { least: WorkCost::ZERO, most });
        self.count_paid(funds);
    }

    /// Holds more money if the tokens produced come near the end of it. Returns false if they are
    /// beyond what the balance can pay.
    pub(super) fn cover_tokens(&mut self, produced: u64, funds: &mut HeldFunds) -> bool {
        let Some(paid) = self.paid.filter(|paid| self.is_raised && *paid < self.answer_max) else {
            return true;
        };
        let ahead = produced.saturating_add(produced / AHEAD_DIVISOR).saturating_add(AHEAD_TOKENS);
        let is_used_up = paid < produced;
        if !is_used_up && (ahead <= paid || produced < self.retry_at) {
            return true;
        }
        let next = ahead.saturating_add(RAISE_TOKENS).min(self.answer_max).max(paid);
        let least = self.cost_between(paid, next);
        let most = self.cost_between(paid, self.answer_max);
        funds.raise(HoldRange::Share { least, most });
        self.count_paid(funds);
        self.retry_at = if self.paid <= Some(paid) { produced + RETRY_TOKENS } else { 0 };
        self.paid.is_none_or(|paid| produced <= paid)
    }

    fn count_paid(&mut self, funds: &HeldFunds) {
        let means = self.extras.subtract_from(funds.cost_max());
        let ChatCandidate { quote, price, .. } = self.candidate;
        self.paid = quote.tokens_within(price, means);
    }

    /// The cost of the answer's tokens after the first `from`, up to `to`.
    fn cost_between(&self, from: u64, to: u64) -> WorkCost {
        let ChatCandidate { quote, price, .. } = self.candidate;
        let (before, after) = (quote.cost_of(price, from), quote.cost_of(price, to));
        WorkCost {
            usd: after.usd.saturating_sub(before.usd),
            diem: after.diem.saturating_sub(before.diem),
        }
    }
}
