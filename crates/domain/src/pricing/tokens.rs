//! What a request measured in tokens costs: exactly once it is done, and at most before it starts.

use money::{Cost, Currency, Means, Nano, Rate};

use super::{TokenPrice, TokenRates};

/// Tokens of one request. Cached and cache-write tokens are part of the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    pub prompt: u64,
    pub cached: u64,
    pub cache_write: u64,
    /// Those of the cache-write tokens that are kept for an hour.
    pub cache_write_1h: u64,
    /// Reasoning included: it is output like any other.
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

/// One line of a bill for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenLine {
    pub class: TokenClass,
    pub tokens: u64,
    /// Of a single token.
    pub rate: Rate,
}

impl TokenClass {
    /// The word for it in the names of what is sold.
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
    /// The bill by class: each token is on one line, and lines of nothing are left out.
    pub fn lines(&self, counts: TokenCounts) -> Vec<TokenLine> {
        let rates = self.rates(counts.prompt);
        let cached = counts.cached.min(counts.prompt);
        let cache_write = counts.cache_write.min(counts.prompt - cached);
        let cache_write_1h = counts.cache_write_1h.min(cache_write);
        let line = |class, tokens| TokenLine { class, tokens, rate: rates.rate(class) };
        let lines = [
            line(TokenClass::Input, counts.prompt - cached - cache_write),
            line(TokenClass::CacheInput, cached),
            line(TokenClass::CacheWrite, cache_write - cache_write_1h),
            line(TokenClass::CacheWriteHour, cache_write_1h),
            line(TokenClass::Output, counts.completion),
        ];
        lines.into_iter().filter(|line| 0 < line.tokens).collect()
    }

    /// The most that a request can cost, whichever of its tokens turn out to be cached and on
    /// whichever side of the threshold its context turns out to be.
    pub fn most(&self, prompt_max: u64, completion_max: u64) -> Cost {
        Cost::of(&[
            (prompt_max, self.dearest_input(prompt_max)),
            (completion_max, self.dearest_output(prompt_max)),
        ])
    }

    /// How many completion tokens the means buy after the prompt is paid; no number if any do.
    pub fn completion_within(&self, prompt_max: u64, means: Means) -> Option<u64> {
        let output = self.dearest_output(prompt_max);
        if output.usd.picos() == 0 {
            return None;
        }
        let prompt = self.most(prompt_max, 0);
        let is_at_par = output.is_at_par() && prompt.usd == prompt.diem;
        if is_at_par || !means.diem.is_positive() {
            let usd = if is_at_par { means.total() } else { means.usd };
            return Some(tokens_for(usd.saturating_sub(prompt.usd), output, Currency::Usd));
        }
        let all_in_usd = tokens_for(means.usd, output, Currency::Usd);
        let all_in_diem = tokens_for(means.diem, output, Currency::Diem);
        // Neither buys more than it would without a prompt.
        let more_than_enough = all_in_usd.saturating_add(all_in_diem);
        Some(largest(more_than_enough, |tokens| self.most(prompt_max, tokens).is_within(means)))
    }

    fn dearest_input(&self, prompt_max: u64) -> Rate {
        let classes = [
            TokenClass::Input,
            TokenClass::CacheInput,
            TokenClass::CacheWrite,
            TokenClass::CacheWriteHour,
        ];
        let dearest = |rates: &TokenRates| {
            let rates = classes.into_iter().map(|class| rates.rate(class));
            rates.fold(Rate::FREE, Rate::or_dearer)
        };
        self.possible(prompt_max).map(dearest).fold(Rate::FREE, Rate::or_dearer)
    }

    fn dearest_output(&self, prompt_max: u64) -> Rate {
        let rates = self.possible(prompt_max).map(|rates| rates.rate(TokenClass::Output));
        rates.fold(Rate::FREE, Rate::or_dearer)
    }

    /// The rates that may apply to a prompt of at most so many tokens.
    fn possible(&self, prompt_max: u64) -> impl Iterator<Item = &TokenRates> {
        [&self.base, self.rates(prompt_max)].into_iter()
    }
}

const PICOS_PER_NANO: u128 = 1000;

/// How many tokens an amount buys; as many as there are numbers if they are free.
fn tokens_for(amount: Nano, rate: Rate, currency: Currency) -> u64 {
    let picos = u128::try_from(amount.nanos()).unwrap_or(0) * PICOS_PER_NANO;
    let price = u128::try_from(rate.price_in(currency).picos()).unwrap_or(0);
    picos.checked_div(price).and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(u64::MAX)
}

/// The largest number up to `most` that is good, where all below a good one are good too.
fn largest(most: u64, is_good: impl Fn(u64) -> bool) -> u64 {
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
    fn rate(&self, class: TokenClass) -> Rate {
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
