//! The money of one piece of work, from its hold to its end.
//!
//! Whoever opens a purse pays out of it or releases it. One that is dropped releases its money too,
//! so work that dies costs nothing.

use std::sync::Arc;

use access::Holder;
use credits::{Receipt, Want};
use domain::catalogue::Model;
use domain::limits::window::Admission;
use ledger::{Charge, Hold};
use moment::Timestamp;
use money::Means;
use store::usage::UsageDetails;

use crate::app::Shared;
use crate::call::StandingCell;
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::inference::Failure;
use crate::transport::RequestId;

/// Money that is held.
pub(crate) struct Purse {
    pub(crate) app: Shared,
    pub(crate) request_id: RequestId,
    started: Timestamp,
    admission: Admission,
    hold: Hold,
}

/// Who asks which model for work.
#[derive(Clone, Copy)]
pub(crate) struct Errand<'a> {
    pub(crate) holder: &'a Holder,
    pub(crate) model: &'a Model,
    pub(crate) request_id: &'a RequestId,
    pub(crate) standing: &'a StandingCell,
}

impl Purse {
    /// Counts the request against its limits, with the tokens that it may use, and sets its money
    /// aside.
    pub(crate) fn open(
        app: &Shared,
        errand: Errand<'_>,
        tokens: u64,
        want: Want,
    ) -> Result<Purse, Refusal> {
        let Errand { holder, model, request_id, standing } = errand;
        let admission = app.admit_model(holder, model, tokens, standing)?;
        let hold = app.ledger.hold(holder.payer(), want).map_err(|refused| {
            app.limiter.correct(admission, 0);
            payment::refuse_hold(app, refused)
        })?;
        let (app, request_id) = (Arc::clone(app), request_id.clone());
        Ok(Purse { started: app.clock.now(), app, request_id, admission, hold })
    }

    /// What the work may cost.
    pub(crate) fn funds(&self) -> Means {
        self.hold.means()
    }

    /// What is left to spend while the money is held: the least that will be left afterwards.
    pub(crate) fn balance_after_hold(&self) -> String {
        self.app.ledger.balances(self.hold.payer().owner).total().to_string()
    }

    /// Charges for the work, and waits until that is durable.
    pub(crate) async fn pay(
        self,
        tokens_used: u64,
        charge: impl FnOnce(UsageDetails) -> Charge,
    ) -> Result<Receipt, Failure> {
        self.app.limiter.correct(self.admission, tokens_used);
        let details = UsageDetails {
            request_id: self.request_id.as_str().to_owned(),
            execution_ms: u64::try_from(self.app.clock.now().since(self.started).as_millis()).ok(),
            ..UsageDetails::default()
        };
        let receipt = self.app.ledger.settle(self.hold, charge(details)).await;
        receipt.map_err(Failure::Unrecorded)
    }

    /// Nothing was produced: the money returns, and no tokens were used.
    pub(crate) fn release(self) {
        self.app.limiter.correct(self.admission, 0);
        self.app.ledger.release(self.hold);
    }
}
