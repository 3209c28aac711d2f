//! The one path of paid work: resolve the model → admit → hold → run → charge or release.
//!
//! An endpoint makes a [`PaidCall`] of its call, gives the maximum cost of the work, and gets
//! [`HeldFunds`], which end in one of four ways. Work with a whole result ends in
//! [`HeldFunds::run`]. Chats and streams pay for what was sent (`paid_chat`,
//! `audio/speech/stream`), and calls to a chain for the items that were answered
//! ([`HeldFunds::pay_with`]). A queued job keeps its hold in the store (`queued`).

pub mod call_funds;
mod held_funds;
pub mod queued_job;
mod whole_result;

use std::sync::Arc;

use access::CredentialHolder;
use domain::catalogue::{
    Catalogue, CatalogueModel, CountryCode, ModelResolveError, ModelType, ResolvedModel,
};
use ledger::HoldRefused;
use ledger_core::HoldRange;
use moment::Timestamp;
use money::WorkCost;
use sandbox::CallerId;

use call_funds::CallFunds;
pub use held_funds::HeldFunds;
pub use whole_result::{PaidResult, WorkResult};

use crate::app::SharedApp;
use crate::call::ApiCall;
use crate::call_terms::CallTerms;
use crate::caller::PayingCaller;
use crate::caller_limits::RateLimitCell;
use crate::input::BodyReservation;
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::model::refuse_model;
use crate::request_id::RequestId;
use crate::work_session::WorkSession;

/// A call of a customer, without its input.
pub struct PaidCall {
    pub app: SharedApp,
    pub holder: Arc<CredentialHolder>,
    pub request_id: RequestId,
    pub standing: RateLimitCell,
    pub now: Timestamp,
    pub country: Option<CountryCode>,
    pub room: Arc<BodyReservation>,
    pub session: WorkSession,
    pub terms: CallTerms,
}

impl PaidCall {
    pub fn from_call<I>(app: &SharedApp, call: ApiCall<PayingCaller, I>) -> (PaidCall, I) {
        let PayingCaller(holder) = call.caller;
        let session = WorkSession { owner: holder.owner.id, headers: call.session };
        let paid_call = PaidCall {
            app: Arc::clone(app),
            holder,
            request_id: call.request_id,
            standing: call.standing,
            now: call.now,
            country: call.country,
            room: call.room,
            session,
            terms: call.terms,
        };
        (paid_call, call.input)
    }

    /// The model named `name`, if it has this type and the caller may use it: in its country and
    /// with its key's privacy setting.
    pub fn resolve_model<'a>(
        &self,
        catalogue: &'a Catalogue,
        name: &str,
        kind: ModelType,
    ) -> Result<ResolvedModel<'a>, Refusal> {
        let resolved = self.find_model(catalogue, name, kind).map_err(refuse_model)?;
        self.set_rate_limit(resolved.model);
        Ok(resolved)
    }

    /// The same, with the error as an enum for callers that have a fallback.
    pub fn find_model<'a>(
        &self,
        catalogue: &'a Catalogue,
        name: &str,
        kind: ModelType,
    ) -> Result<ResolvedModel<'a>, ModelResolveError> {
        let privacy = self.holder.key().map(|key| key.settings.model_privacy).unwrap_or_default();
        let resolved = catalogue.resolve_model(name, kind, self.now)?;
        resolved.check_region(self.country)?.check_privacy(privacy)
    }

    /// Makes the response headers show the limits of this model, whatever the outcome.
    pub fn set_rate_limit(&self, model: &CatalogueModel) {
        self.standing.set(self.app.model_rate_limit(&self.holder, model, self.now));
    }

    /// Refuses a request that the model's limits or the balance would refuse anyway, before costly
    /// work begins. Counts nothing and holds nothing.
    pub fn refuse_if_unaffordable(
        &self,
        model: &CatalogueModel,
        least: WorkCost,
    ) -> Result<(), Refusal> {
        let PaidCall { app, holder, standing, .. } = self;
        if let CallFunds::OfJob(_) = self.terms.funds {
            return Ok(());
        }
        if !self.terms.is_counted {
            app.refuse_if_spent(holder, model, standing)?;
        }
        let hold = app.ledger.hold(holder.payer(), HoldRange::Exactly(least));
        app.ledger.release(hold.map_err(|refused| payment::refuse_hold(&app.settings, refused))?);
        Ok(())
    }

    /// The owner as the reader knows it, the same for all keys of the owner.
    pub fn reader_caller_id(&self) -> CallerId {
        CallerId(self.holder.owner.id.0.as_u128())
    }

    /// Counts the request against the limits of the model, with the tokens that it may use, and
    /// holds its money.
    pub fn hold(
        &self,
        model: &CatalogueModel,
        tokens: u64,
        want: HoldRange,
    ) -> Result<HeldFunds, Refusal> {
        HeldFunds::open(self, model, tokens, want)
    }

    /// Holds money for work without a model. The endpoint has already counted the request.
    pub fn hold_plain(&self, want: HoldRange) -> Result<HeldFunds, Refusal> {
        self.try_hold_plain(want)
            .map_err(|refused| payment::refuse_hold(&self.app.settings, refused))
    }

    /// The same, with the error as an enum that can be given to several callers.
    pub fn try_hold_plain(&self, want: HoldRange) -> Result<HeldFunds, HoldRefused> {
        HeldFunds::open_plain(self, want)
    }
}
