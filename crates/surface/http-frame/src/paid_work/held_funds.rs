//! The money held for one piece of work, until it is settled or released.
//!
//! Dropping it releases the hold, so work that dies costs nothing.

use std::sync::Arc;

use domain::catalogue::CatalogueModel;
use domain::limits::window::LimitAdmission;
use engine::SessionId;
use ledger::{HoldRefused, LedgerError, RequestHold, WorkCharge};
use ledger_core::{ChargeReceipt, HoldRange};
use moment::Timestamp;
use money::CurrencyFunds;
use store::write::StoreWrite;

use crate::app::SharedApp;
use crate::paid_work::PaidCall;
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::inference::InferenceFailure;
use crate::request_id::RequestId;

/// A hold in the ledger, with the request's admission by the rate limits.
pub struct HeldFunds {
    pub app: SharedApp,
    pub request_id: RequestId,
    started: Timestamp,
    /// None for work without a model, which its endpoint has counted.
    admission: Option<LimitAdmission>,
    hold: RequestHold,
    session: Option<SessionId>,
}

impl HeldFunds {
    pub(super) fn open(
        call: &PaidCall,
        model: &CatalogueModel,
        tokens: u64,
        want: HoldRange,
    ) -> Result<HeldFunds, Refusal> {
        let PaidCall { app, holder, standing, .. } = call;
        let admission = app.admit_model(holder, model, tokens, standing)?;
        HeldFunds::open_admitted(call, Some(admission), want).map_err(|refused| {
            correct_admission(app, Some(admission), 0);
            payment::refuse_hold(&app.settings, refused)
        })
    }

    /// Holds money for work without a model.
    pub(super) fn open_plain(call: &PaidCall, want: HoldRange) -> Result<HeldFunds, HoldRefused> {
        HeldFunds::open_admitted(call, None, want)
    }

    fn open_admitted(
        call: &PaidCall,
        admission: Option<LimitAdmission>,
        want: HoldRange,
    ) -> Result<HeldFunds, HoldRefused> {
        let PaidCall { app, holder, request_id, session, .. } = call;
        let hold = app.ledger.hold(holder.payer(), want)?;
        let (app, request_id) = (Arc::clone(app), request_id.clone());
        let (started, session) = (app.clock.now(), session.find_id(None));
        Ok(HeldFunds { app, request_id, started, admission, hold, session })
    }

    /// Sets the session of work whose body names one.
    pub(crate) fn with_session(self, session: Option<SessionId>) -> HeldFunds {
        HeldFunds { session, ..self }
    }

    /// The most that the work may cost.
    pub(crate) fn cost_max(&self) -> CurrencyFunds {
        self.hold.means()
    }

    /// Holds more money, as far as it is available.
    pub(crate) fn raise(&mut self, want: HoldRange) {
        self.app.ledger.raise(&mut self.hold, want);
    }

    /// The balance without anything that is held, this hold included.
    pub fn balance_after_hold(&self) -> String {
        self.app.ledger.balances(self.hold.payer().owner).total().to_string()
    }

    /// The balance plus this hold: the funds before this work, without other holds.
    pub fn balance_before(&self) -> String {
        let free = self.app.ledger.balances(self.hold.payer().owner).total();
        free.saturating_add(self.hold.amount()).to_string()
    }

    /// Charges for the work and waits until the charge is durable. Adds the request's id, duration
    /// and session to the charge.
    pub async fn pay(
        self,
        tokens_used: u64,
        charge: WorkCharge,
    ) -> Result<ChargeReceipt, InferenceFailure> {
        correct_admission(&self.app, self.admission, tokens_used);
        self.pay_with(charge, Vec::new()).await.map_err(InferenceFailure::Unrecorded)
    }

    /// Charges for work without a model, and writes more rows in the same transaction. The store
    /// must not be able to refuse those rows.
    pub async fn pay_with(
        self,
        mut charge: WorkCharge,
        also: Vec<StoreWrite>,
    ) -> Result<ChargeReceipt, LedgerError> {
        let took = self.app.clock.now().since(self.started).as_millis();
        charge.details.execution_ms = u64::try_from(took).ok();
        charge.details.session = self.session.map(|session| session.0);
        charge.details.request_id = self.request_id.as_str().to_owned();
        self.app.ledger.settle_with(self.hold, charge, also).await
    }

    /// Releases the hold and the reserved tokens: nothing was produced.
    pub fn release(self) {
        correct_admission(&self.app, self.admission, 0);
        self.app.ledger.release(self.hold);
    }
}

fn correct_admission(app: &SharedApp, admission: Option<LimitAdmission>, tokens: u64) {
    if let Some(admission) = admission {
        app.limiter.correct_tokens(admission, tokens);
    }
}
