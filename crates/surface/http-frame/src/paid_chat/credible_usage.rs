//! Chooses the tokens to bill: the engine's report if it is credible, else our own count.

use engine::EngineUsage;

use super::quote::ChatQuote;
use crate::metering_faults::MeteringFault;

/// The token counts of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeasuredUsage {
    pub(super) report: EngineUsageReport,
    /// Our own count of the tokens received.
    pub(super) produced: u64,
    /// The bound on the answer's tokens, for all choices together.
    pub(super) answer_max: u64,
    /// True if that bound was sent to the engine.
    pub(super) is_bounded: bool,
}

/// The engine's report of tokens.
#[derive(Debug, Clone, Copy)]
pub(super) enum EngineUsageReport {
    None,
    /// A report from the middle of the answer, possibly behind what was sent.
    OnTheWay(EngineUsage),
    Total(EngineUsage),
}

/// The result of comparing a report with our own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BilledUsage {
    /// The tokens to bill; None if nothing was produced.
    pub(super) usage: Option<EngineUsage>,
    /// The reason why the report was not billed unchanged.
    pub(super) fault: Option<MeteringFault>,
}

/// Bills a credible report, within the bound of the answer; else our own count.
pub(super) fn bill_usage(used: &MeasuredUsage, quote: &ChatQuote) -> BilledUsage {
    let produced = used.produced.min(used.answer_max);
    let (report, is_total) = match used.report {
        EngineUsageReport::Total(usage) => (Some(usage), true),
        EngineUsageReport::OnTheWay(usage) => (Some(usage), false),
        EngineUsageReport::None => (None, false),
    };
    let usage = match report.filter(|usage| is_credible(*usage, quote)) {
        Some(usage) => {
            // A report from the middle of an answer is raised to our count of what came since, and
            // a total of zero must not make the answer free.
            let is_whole = is_total && 0 < usage.completion();
            let completion =
                if is_whole { usage.completion() } else { usage.completion().max(produced) };
            usage.with_completion(completion.min(used.completion_max()))
        }
        None => EngineUsage::from_counts(quote.prompt_estimate, produced),
    };
    let is_something = 0 < used.produced || 0 < usage.completion();
    let fault = report.and_then(|usage| fault_of(usage, is_total, used, quote));
    BilledUsage { usage: is_something.then_some(usage), fault }
}

impl MeasuredUsage {
    /// The most completion tokens to bill: the bound, or what was delivered if that is more.
    fn completion_max(&self) -> u64 {
        if self.is_bounded { self.answer_max.max(self.produced) } else { u64::MAX }
    }
}

/// True if the report is possible: a prompt is never empty, and nothing exceeds the model's
/// context. An impossible report must not overcharge the caller, and zero must not make the answer
/// free.
fn is_credible(usage: EngineUsage, quote: &ChatQuote) -> bool {
    0 < usage.prompt() && is_within_context(usage, quote)
}

fn is_within_context(usage: EngineUsage, quote: &ChatQuote) -> bool {
    let prompt_max = quote.context.saturating_mul(quote.prompts);
    let completion_max = quote.context.saturating_mul(quote.choices);
    usage.prompt() <= prompt_max && usage.completion() <= completion_max
}

fn fault_of(
    usage: EngineUsage,
    is_total: bool,
    used: &MeasuredUsage,
    quote: &ChatQuote,
) -> Option<MeteringFault> {
    if !is_within_context(usage, quote) || used.completion_max() < usage.completion() {
        return Some(MeteringFault::BeyondBound);
    }
    let is_zero = usage.prompt() == 0 || usage.completion() == 0;
    (is_total && is_zero && 0 < used.produced).then_some(MeteringFault::ZeroReported)
}

#[cfg(test)]
mod tests;
