//! The money held for one piece of work, until it is settled or released.
//!
//! Dropping it releases the hold, so work that dies costs nothing.

use std::sync::Arc;

use batches::InteractiveWork;
use domain::catalogue::CatalogueModel;
use domain::limits::window::LimitAdmission;
use engine::SessionId;
use ledger::{HoldRefused, LedgerError, RequestHold, WorkCharge};
use ledger_core::{ChargeReceipt, HoldRange, OwnerId};
use moment::Timestamp;
use money::{CurrencyFunds, Nano};
use store::write::StoreWrite;

use crate::app::SharedApp;
use crate::batch_line::BatchLineTerms;
use crate::paid_work::PaidCall;
use crate::paid_work::call_funds::{CallFunds, ChargedCell, JobFunds};
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::inference::InferenceFailure;
use crate::request_id::RequestId;

/// The hold that pays.
enum FundsSource {
    /// In memory, for a request.
    Request(RequestHold),
    /// In the store; the worker of the job charges it.
    Job(JobFunds),
}

/// A hold in the ledger, with the request's admission by the rate limits.
pub struct HeldFunds {
    pub app: SharedApp,
    pub request_id: RequestId,
    started: Timestamp,
    /// None for work without a model, which its endpoint has counted, and for stored calls.
    admission: Option<LimitAdmission>,
    money: FundsSource,
    session: Option<SessionId>,
    charged: ChargedCell,
    terms: WorkTerms,
}

/// The terms of the work: a caller waits for it, or it is a line of a batch.
enum WorkTerms {
    /// Batches make room for it.
    Interactive {
        _counted: InteractiveWork,
    },
    BatchLine(Arc<BatchLineTerms>),
}

impl HeldFunds {
    pub(super) fn open(
        call: &PaidCall,
        model: &CatalogueModel,
        tokens: u64,
        want: HoldRange,
    ) -> Result<HeldFunds, Refusal> {
        let PaidCall { app, holder, standing, .. } = call;
        if call.terms.batch_line.is_some() && !app.engines.has_spare_slots(model) {
            return Err(Refusal::busy("The model is busy with other calls."));
        }
        let admission = if call.terms.is_counted {
            None
        } else {
            Some(app.admit_model(holder, model, tokens, standing)?)
        };
        if let CallFunds::Quote(quote) = &call.terms.funds {
            quote.set(want);
            return Err(Refusal::unavailable("only a quote was asked for"));
        }
        HeldFunds::open_admitted(call, admission, want).map_err(|refused| {
            correct_admission(app, admission, 0);
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
        let line = call.terms.batch_line.as_ref();
        let want = line.map_or(want, |line| line.scale_hold(want));
        let money = match &call.terms.funds {
            CallFunds::OfJob(funds) => FundsSource::Job(funds.clone()),
            CallFunds::OfRequest | CallFunds::Quote(_) => {
                FundsSource::Request(app.ledger.hold(holder.payer(), want)?)
            }
        };
        let terms = match line {
            Some(line) => WorkTerms::BatchLine(Arc::clone(line)),
            None => WorkTerms::Interactive { _counted: app.batches.begin_interactive() },
        };
        let (app, request_id) = (Arc::clone(app), request_id.clone());
        let (started, session) = (app.clock.now(), session.find_id(None));
        let charged = call.terms.charged.clone();
        Ok(HeldFunds { app, request_id, started, admission, money, session, charged, terms })
    }

    /// Sets the session of work whose body names one.
    pub(crate) fn with_session(self, session: Option<SessionId>) -> HeldFunds {
        HeldFunds { session, ..self }
    }

    /// The most that the work may cost.
    pub(crate) fn cost_max(&self) -> CurrencyFunds {
        let means = match &self.money {
            FundsSource::Request(hold) => hold.means(),
            FundsSource::Job(funds) => funds.means,
        };
        match &self.terms {
            WorkTerms::BatchLine(line) => line.unscale_funds(means),
            WorkTerms::Interactive { .. } => means,
        }
    }

    /// Holds more money, as far as it is available.
    pub(crate) fn raise(&mut self, want: HoldRange) {
        let want = match &self.terms {
            WorkTerms::BatchLine(line) => line.scale_hold(want),
            WorkTerms::Interactive { .. } => want,
        };
        if let FundsSource::Request(hold) = &mut self.money {
            self.app.ledger.raise(hold, want);
        }
    }

    /// The balance without anything that is held, this hold included.
    pub fn balance_after_hold(&self) -> String {
        self.app.ledger.balances(self.owner()).total().to_string()
    }

    /// The balance plus this hold: the funds before this work, without other holds.
    pub fn balance_before(&self) -> String {
        let free = self.app.ledger.balances(self.owner()).total();
        let held = match &self.money {
            FundsSource::Request(hold) => hold.amount(),
            FundsSource::Job(funds) => funds.means.total(),
        };
        free.saturating_add(held).to_string()
    }

    fn owner(&self) -> OwnerId {
        match &self.money {
            FundsSource::Request(hold) => hold.payer().owner,
            FundsSource::Job(funds) => funds.job.payer.owner,
        }
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
        match (self.money, self.terms) {
            (FundsSource::Request(hold), WorkTerms::BatchLine(line)) => {
                line.keep_charge(&self.app, hold, charge)
            }
            (FundsSource::Request(hold), WorkTerms::Interactive { _counted }) => {
                let receipt = self.app.ledger.settle_with(hold, charge, also).await?;
                self.charged.set(&receipt);
                Ok(receipt)
            }
            (FundsSource::Job(funds), _) => {
                debug_assert!(also.is_empty(), "the worker of a job writes its result");
                let receipt = ChargeReceipt {
                    charge: funds.job.charge_id(),
                    legs: Vec::new(),
                    written_off: Nano::ZERO,
                    remaining: self.app.ledger.balances(funds.job.payer.owner),
                };
                funds.leave_charge(charge);
                Ok(receipt)
            }
        }
    }

    /// Releases the hold and the reserved tokens: nothing was produced.
    pub fn release(self) {
        correct_admission(&self.app, self.admission, 0);
        if let FundsSource::Request(hold) = self.money {
            self.app.ledger.release(hold);
        }
    }
}

fn correct_admission(app: &SharedApp, admission: Option<LimitAdmission>, tokens: u64) {
    if let Some(admission) = admission {
        app.limiter.correct_tokens(admission, tokens);
    }
}
