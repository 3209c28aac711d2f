//! Which tokens are billed: those the engine reports, if they can be true, or our own count.

use engine::{Usage, UsageReport};

use super::quote::Quote;

/// What is known of the tokens that an answer took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) report: Report,
    /// Our own count of what came.
    pub(super) produced: u64,
    /// What was asked of the engine, for all choices together.
    pub(super) answer_max: u64,
}

/// What the engine said.
#[derive(Debug, Clone, Copy)]
pub(super) enum Report {
    None,
    /// Before the end, and perhaps behind what was sent.
    OnTheWay(Usage),
    Total(Usage),
}

/// The tokens to bill; nothing if nothing was produced.
pub(super) fn billed(used: &Used, quote: &Quote) -> Option<Usage> {
    let produced = used.produced.min(used.answer_max);
    let (report, is_total) = match used.report {
        Report::Total(usage) => (Some(usage), true),
        Report::OnTheWay(usage) => (Some(usage), false),
        Report::None => (None, false),
    };
    let believed = report.filter(|usage| is_credible(*usage, quote));
    let usage = match believed {
        Some(usage) if is_total => usage,
        Some(usage) => at_least(usage, produced),
        None => Usage::of(quote.prompt_estimate, produced),
    };
    let is_something = 0 < used.produced || 0 < usage.completion();
    is_something.then_some(usage)
}

/// No request has an empty prompt, and none is larger than the model's context. A report that
/// cannot be true must not ruin the caller, and one of zero must not make the answer free.
fn is_credible(usage: Usage, quote: &Quote) -> bool {
    let prompt_max = quote.context.saturating_mul(quote.prompts);
    let completion_max = quote.context.saturating_mul(quote.choices);
    0 < usage.prompt() && usage.prompt() <= prompt_max && usage.completion() <= completion_max
}

/// A report from the middle of an answer, brought up to what has come since.
fn at_least(usage: Usage, produced: u64) -> Usage {
    let number = |tokens: u64| u32::try_from(tokens).map(f64::from).unwrap_or(f64::INFINITY);
    let report = UsageReport {
        prompt: number(usage.prompt()),
        completion: number(usage.completion().max(produced)),
        total: None,
        cached: number(usage.cached()),
        cache_creation: number(usage.cache_creation()),
        reasoning: number(usage.reasoning()),
    };
    Usage::from_report(report).unwrap_or(usage)
}

#[cfg(test)]
mod tests;
