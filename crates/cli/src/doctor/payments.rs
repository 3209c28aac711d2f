//! Checks the payment setup: chains, tokens, funds, the facilitator and the clock.

use config::sections::x402::X402;
use moment::{Clock, SystemClock};
use payments::Remedy;

use super::Finding;
use crate::payments::{Counter, till};

pub(super) async fn check(section: &X402) -> Vec<Finding> {
    let till = match till(section) {
        Ok(Some(till)) => till,
        Ok(None) => return vec![Finding::ok("x402", "off: no address to pay to is configured")],
        Err(problem) => return vec![Finding::failed("x402", problem, "correct [x402]")],
    };
    let now = SystemClock.now();
    let findings = match &till.counter {
        Counter::Direct(direct) => direct.inspect(&till.terms, now).await,
        Counter::Facilitator(facilitator) => facilitator.inspect(&till.terms, now).await,
    };
    findings.into_iter().map(finding).collect()
}

fn finding(found: payments::Finding) -> Finding {
    match found.remedy {
        Remedy::None => Finding::ok(found.about, found.found),
        Remedy::Advised(fix) => Finding::warning(found.about, found.found, fix),
        Remedy::Needed(fix) => Finding::failed(found.about, found.found, fix),
    }
}
