//! Checks the payment setup: chains, tokens, funds, the facilitator and the clock.

use config::sections::x402::X402Config;
use moment::{Clock, SystemClock};
use payments::FindingRemedy;

use super::CheckFinding;
use crate::payments::{SettlementClient, build_payment_setup};

pub(super) async fn check_payments(section: &X402Config) -> Vec<CheckFinding> {
    let till = match build_payment_setup(section) {
        Ok(Some(till)) => till,
        Ok(None) => {
            return vec![CheckFinding::ok("x402", "off: no address to pay to is configured")];
        }
        Err(problem) => return vec![CheckFinding::failed("x402", problem, "correct [x402]")],
    };
    let now = SystemClock.now();
    let findings = match &till.counter {
        SettlementClient::Direct(direct) => direct.inspect(&till.terms, now).await,
        SettlementClient::Facilitator(facilitator) => facilitator.inspect(&till.terms, now).await,
    };
    findings.into_iter().map(to_finding).collect()
}

fn to_finding(found: payments::InspectionFinding) -> CheckFinding {
    match found.remedy {
        FindingRemedy::None => CheckFinding::ok(found.about, found.found),
        FindingRemedy::Advised(fix) => CheckFinding::warning(found.about, found.found, fix),
        FindingRemedy::Needed(fix) => CheckFinding::failed(found.about, found.found, fix),
    }
}
