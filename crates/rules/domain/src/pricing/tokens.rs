//! Cost of a request measured in tokens: exact after it ends, and a maximum before it starts.

use money::{BalanceCurrency, CurrencyFunds, Nano, UnitRate, WorkCost};

use super::{TokenPrice, TokenRates};

/// Token counts of one request. Cached and cache-write tokens are part of the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    pub prompt: u64,
    pub cached: u64,
    pub cache_write: u64,
    /// Cache-write tokens that are kept for one hour.
    pub cache_write_1h: u64,
    /// Includes reasoning tokens.
    pub completion: u64,
}

/// Tokens that share a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenClass {
    Input,
    CacheInput,
    CacheWrite,
    CacheWriteHour,
    Output,
}

/// One line of a token bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenLine {
    pub class: TokenClass,
    pub tokens: u64,
    /// Per token.
    pub rate: UnitRate,
}

impl TokenClass {
    /// The name of the class in billing SKUs.
    pub fn name(self) -> &'static str {
        match self {
            TokenClass::Input => "input",
            TokenClass::CacheInput => "cache-input",
            TokenClass::CacheWrite => "cache-write",
            TokenClass::CacheWriteHour => "cache-write-1h",
            TokenClass::Output => "output",
        }
    }
}

impl TokenPrice {
    /// The bill by class: each token is on exactly one line; empty lines are omitted.
    pub fn lines(&self, counts: TokenCounts) -> Vec<TokenLine> {
        let rates = self.rates(counts.prompt);
        let cached = counts.cached.min(counts.prompt);
        let cache_write = counts.cache_write.min(counts.prompt - cached);
        let cache_write_1h = counts.cache_write_1h.min(cache_write);
        let line = |class, tokens| TokenLine { class, tokens, rate: rates.rate_for_class(class) };
        let lines = [
            line(TokenClass::Input, counts.prompt - cached - cache_write),
            line(TokenClass::CacheInput, cached),
            line(TokenClass::CacheWrite, cache_write - cache_write_1h),
            line(TokenClass::CacheWriteHour, cache_write_1h),
            line(TokenClass::Output, counts.completion),
        ];
        lines.into_iter().filter(|line| 0 < line.tokens).collect()
    }

    /// The maximum cost of a request, for any share of cached tokens and any context length up to
    /// `prompt_max`.
    pub fn max_cost(&self, prompt_max: u64, completion_max: u64) -> WorkCost {
        WorkCost::sum_lines(&[
            (prompt_max, self.dearest_input(prompt_max)),
            (completion_max, self.dearest_output(prompt_max)),
        ])
    }

    /// The completion tokens that `means` covers after the prompt; `None` if they are unlimited.
    pub fn completion_within(&self, prompt_max: u64, means: CurrencyFunds) -> Option<u64> {
        let output = self.dearest_output(prompt_max);
        if output.usd.picos() == 0 {
            return None;
        }
        let prompt = self.max_cost(prompt_max, 0);
        let is_at_par = output.is_at_par() && prompt.usd == prompt.diem;
        if is_at_par || !means.diem.is_positive() {
            let usd = if is_at_par { means.total() } else { means.usd };
            return Some(tokens_for(usd.saturating_sub(prompt.usd), output, BalanceCurrency::Usd));
        }
        let all_in_usd = tokens_for(means.usd, output, BalanceCurrency::Usd);
        let all_in_diem = tokens_for(means.diem, output, BalanceCurrency::Diem);
        // Upper bound: each currency alone, without paying for a prompt.
        let more_than_enough = all_in_usd.saturating_add(all_in_diem);
        Some(largest_where(more_than_enough, |tokens| {
            self.max_cost(prompt_max, tokens).is_within(means)
        }))
    }

    fn dearest_input(&self, prompt_max: u64) -> UnitRate {
        let classes = [
            TokenClass::Input,
            TokenClass::CacheInput,
            TokenClass::CacheWrite,
            TokenClass::CacheWriteHour,
        ];
        let dearest = |rates: &TokenRates| {
            let rates = classes.into_iter().map(|class| rates.rate_for_class(class));
            rates.fold(UnitRate::FREE, UnitRate::or_dearer)
        };
        self.possible_rates(prompt_max).map(dearest).fold(UnitRate::FREE, UnitRate::or_dearer)
    }

    fn dearest_output(&self, prompt_max: u64) -> UnitRate {
        let rates =
            self.possible_rates(prompt_max).map(|rates| rates.rate_for_class(TokenClass::Output));
        rates.fold(UnitRate::FREE, UnitRate::or_dearer)
    }

    /// The rates that may apply to a prompt of at most `prompt_max` tokens.
    fn possible_rates(&self, prompt_max: u64) -> impl Iterator<Item = &TokenRates> {
        [&self.base, self.rates(prompt_max)].into_iter()
    }
}

const PICOS_PER_NANO: u128 = 1000;

/// The number of tokens that an amount buys; `u64::MAX` if they are free.
fn tokens_for(amount: Nano, rate: UnitRate, currency: BalanceCurrency) -> u64 {
    let picos = u128::try_from(amount.nanos()).unwrap_or(0) * PICOS_PER_NANO;
    let price = u128::try_from(rate.price_in(currency).picos()).unwrap_or(0);
    picos.checked_div(price).and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(u64::MAX)
}

/// The largest number up to `most` for which `is_good` holds, by binary search. `is_good` must hold
/// for all smaller numbers too.
fn largest_where(most: u64, is_good: impl Fn(u64) -> bool) -> u64 {
    let (mut good, mut beyond) = (0, most.saturating_add(1));
    while 1 < beyond - good {
        let middle = good + (beyond - good) / 2;
        if is_good(middle) {
            good = middle;
        } else {
            beyond = middle;
        }
    }
    good
}

impl TokenRates {
    fn rate_for_class(&self, class: TokenClass) -> UnitRate {
        match class {
            TokenClass::Input => self.input,
            TokenClass::CacheInput => self.cache_input.unwrap_or(self.input),
            TokenClass::CacheWrite => self.cache_write.unwrap_or(self.input),
            TokenClass::CacheWriteHour => {
                self.cache_write_1h.or(self.cache_write).unwrap_or(self.input)
            }
            TokenClass::Output => self.output,
        }
    }
}

#[cfg(test)]
mod tests;
