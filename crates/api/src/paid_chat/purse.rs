//! The money of one chat, from its hold to its end.

use credits::Receipt;
use domain::catalogue::Capability;
use domain::limits::window::Admission;
use engine::Usage;
use ledger::{Charge, Hold};
use moment::Timestamp;
use money::Nano;
use store::usage::UsageDetails;

use super::Candidate;
use super::believe::{Used, billed};
use crate::app::Shared;
use crate::payment;
use crate::refusal::inference::Failure;
use crate::transport::RequestId;

pub(super) struct Purse {
    pub(super) app: Shared,
    pub(super) request_id: RequestId,
    started: Timestamp,
    admission: Admission,
    hold: Hold,
}

/// What an answer came to.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) usage: Usage,
    pub(crate) receipt: Receipt,
}

impl Purse {
    pub(super) fn new(
        app: Shared,
        request_id: RequestId,
        admission: Admission,
        hold: Hold,
    ) -> Purse {
        let started = app.clock.now();
        Purse { app, request_id, started, admission, hold }
    }

    /// What the work may cost.
    pub(super) fn funds(&self) -> Nano {
        self.hold.amount()
    }

    pub(super) fn balance_after_hold(&self) -> Nano {
        self.app.ledger.balances(self.hold.payer().owner).total()
    }

    /// Remembers what an enclave calls its answer, so that it can be asked to sign for it.
    pub(super) fn note_name(&self, candidate: &Candidate, name: Option<&str>) {
        let is_attested =
            candidate.model.text().is_some_and(|text| text.has(Capability::TeeAttestation));
        if let (true, Some(name)) = (is_attested, name) {
            self.app.engines.answer_names.note(self.request_id.as_str(), name.to_owned());
        }
    }

    /// Charges for what was produced, and waits until that is durable. Nothing produced costs
    /// nothing.
    pub(super) async fn settle(
        self,
        candidate: &Candidate,
        used: Used,
    ) -> Result<Settled, Failure> {
        let billed = billed(&used, &candidate.quote);
        let usage = billed.unwrap_or_default();
        self.app.limiter.correct(self.admission, usage.total());
        let details = UsageDetails {
            request_id: self.request_id.as_str().to_owned(),
            execution_ms: u64::try_from(self.app.clock.now().since(self.started).as_millis()).ok(),
            ..UsageDetails::default()
        };
        let charge = match billed {
            Some(usage) => {
                payment::token_charge(&candidate.model, &candidate.price, usage, details)
            }
            None => Charge::default(),
        };
        let receipt = self.app.ledger.settle(self.hold, charge).await;
        Ok(Settled { usage, receipt: receipt.map_err(Failure::Unrecorded)? })
    }

    /// Nothing was produced: the money returns, and the tokens were not used.
    pub(super) fn release(self) {
        self.app.limiter.correct(self.admission, 0);
        self.app.ledger.release(self.hold);
    }
}
