//! What a request measured in tokens costs: exactly once it is done, and at most before it starts.

use money::{Bill, BillLine, Nano, Price};

use super::{TokenPrice, TokenRates};

/// Tokens of one request. Cached and cache-write tokens are part of the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    pub prompt: u64,
    pub cached: u64,
    pub cache_write: u64,
    /// Reasoning included: it is output like any other.
    pub completion: u64,
}

/// Tokens that share a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenClass {
    Input,
    CacheInput,
    CacheWrite,
    Output,
}

/// One line of a bill for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenLine {
    pub class: TokenClass,
    pub tokens: u64,
    /// Of a single token.
    pub price: Price,
}

impl TokenClass {
    /// The word for it in the names of what is sold.
    pub fn name(self) -> &'static str {
        match self {
            TokenClass::Input => "input",
            TokenClass::CacheInput => "cache-input",
            TokenClass::CacheWrite => "cache-write",
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
        let line = |class, tokens| TokenLine { class, tokens, price: rates.price(class) };
        let lines = [
            line(TokenClass::Input, counts.prompt - cached - cache_write),
            line(TokenClass::CacheInput, cached),
            line(TokenClass::CacheWrite, cache_write),
            line(TokenClass::Output, counts.completion),
        ];
        lines.into_iter().filter(|line| 0 < line.tokens).collect()
    }

    /// The most that a request can cost, whichever of its tokens turn out to be cached and on
    /// whichever side of the threshold its context turns out to be.
    pub fn most(&self, prompt_max: u64, completion_max: u64) -> Nano {
        let lines = vec![
            BillLine { units: prompt_max, price: self.dearest_input(prompt_max) },
            BillLine { units: completion_max, price: self.dearest_output(prompt_max) },
        ];
        Bill::new(lines).total().unwrap_or(Nano::MAX)
    }

    /// How many completion tokens `funds` buy after the prompt is paid; no number if any do.
    pub fn completion_within(&self, prompt_max: u64, funds: Nano) -> Option<u64> {
        let price = u64::try_from(self.dearest_output(prompt_max).picos()).unwrap_or(0);
        if price == 0 {
            return None;
        }
        let left = funds.saturating_sub(self.most(prompt_max, 0)).max(Nano::ZERO);
        let left_picos = u128::try_from(left.nanos()).unwrap_or(0) * PICOS_PER_NANO;
        Some(u64::try_from(left_picos / u128::from(price)).unwrap_or(u64::MAX))
    }

    fn dearest_input(&self, prompt_max: u64) -> Price {
        let dearest = |rates: &TokenRates| {
            let classes = [TokenClass::Input, TokenClass::CacheInput, TokenClass::CacheWrite];
            classes.into_iter().map(|class| rates.price(class)).max().unwrap_or(Price::FREE)
        };
        self.possible(prompt_max).map(dearest).max().unwrap_or(Price::FREE)
    }

    fn dearest_output(&self, prompt_max: u64) -> Price {
        let prices = self.possible(prompt_max).map(|rates| rates.price(TokenClass::Output));
        prices.max().unwrap_or(Price::FREE)
    }

    /// The rates that may apply to a prompt of at most so many tokens.
    fn possible(&self, prompt_max: u64) -> impl Iterator<Item = &TokenRates> {
        [&self.base, self.rates(prompt_max)].into_iter()
    }
}

const PICOS_PER_NANO: u128 = 1000;

impl TokenRates {
    fn price(&self, class: TokenClass) -> Price {
        let rate = match class {
            TokenClass::Input => self.input,
            TokenClass::CacheInput => self.cache_input.unwrap_or(self.input),
            TokenClass::CacheWrite => self.cache_write.unwrap_or(self.input),
            TokenClass::Output => self.output,
        };
        rate.usd
    }
}

#[cfg(test)]
mod tests;
