//! The one path of paid work: resolve the model → admit → hold → run → charge or release.
//!
//! An endpoint makes a [`PaidCall`] of its call, gives the maximum cost of the work, and gets
//! [`HeldFunds`], which end in one of four ways. Work with a whole result ends in
//! [`HeldFunds::run`]. Chats and streams pay for what was sent (`paid_chat`,
//! `audio/speech/stream`), and calls to a chain for the items that were answered
//! ([`HeldFunds::pay_with`]). A queued job keeps its hold in the store (`queued`).

mod held_funds;
pub(crate) mod queued;
mod whole;

use std::sync::Arc;

use access::Holder;
use credits::Want;
use domain::catalogue::{Catalogue, Country, Model, ModelType, Resolved, Unresolved};
use ledger::HoldRefused;
use moment::Timestamp;
use money::Cost;
use reader::CallerId;

pub(crate) use held_funds::HeldFunds;
pub(crate) use whole::{Paid, Produced};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::input::Room;
use crate::payment;
use crate::refusal::Refusal;
use crate::refusal::model::refuse_model;
use crate::request_id::RequestId;
use crate::standing::StandingCell;

/// A call of a customer, without its input.
pub(crate) struct PaidCall {
    pub(crate) app: Shared,
    pub(crate) holder: Arc<Holder>,
    pub(crate) request_id: RequestId,
    pub(crate) standing: StandingCell,
    pub(crate) now: Timestamp,
    pub(crate) country: Option<Country>,
    pub(crate) room: Arc<Room>,
}

impl PaidCall {
    pub(crate) fn of<I>(app: &Shared, call: Call<Customer, I>) -> (PaidCall, I) {
        let Customer(holder) = call.caller;
        let paid_call = PaidCall {
            app: Arc::clone(app),
            holder,
            request_id: call.request_id,
            standing: call.standing,
            now: call.now,
            country: call.country,
            room: call.room,
        };
        (paid_call, call.input)
    }

    /// The model named `name`, if it has this type and the caller may use it: in its country and
    /// with its key's privacy setting.
    pub(crate) fn resolve<'a>(
        &self,
        catalogue: &'a Catalogue,
        name: &str,
        kind: ModelType,
    ) -> Result<Resolved<'a>, Refusal> {
        let resolved = self.find(catalogue, name, kind).map_err(refuse_model)?;
        self.note_standing(resolved.model);
        Ok(resolved)
    }

    /// The same, with the error as an enum for callers that have a fallback.
    pub(crate) fn find<'a>(
        &self,
        catalogue: &'a Catalogue,
        name: &str,
        kind: ModelType,
    ) -> Result<Resolved<'a>, Unresolved> {
        let privacy = self.holder.key().map(|key| key.settings.model_privacy).unwrap_or_default();
        let resolved = catalogue.resolve(name, kind, self.now)?;
        resolved.served_in(self.country)?.as_private_as(privacy)
    }

    /// Makes the response headers show the limits of this model, whatever the outcome.
    pub(crate) fn note_standing(&self, model: &Model) {
        self.standing.set(self.app.standing_with(&self.holder, model, self.now));
    }

    /// Refuses a request that the model's limits or the balance would refuse anyway, before costly
    /// work begins. Counts nothing and holds nothing.
    pub(crate) fn refuse_if_hopeless(&self, model: &Model, least: Cost) -> Result<(), Refusal> {
        let PaidCall { app, holder, standing, .. } = self;
        app.refuse_if_spent(holder, model, standing)?;
        let hold = app.ledger.hold(holder.payer(), Want::Exactly(least));
        app.ledger.release(hold.map_err(|refused| payment::refuse_hold(&app.settings, refused))?);
        Ok(())
    }

    /// The owner as the reader knows it, the same for all keys of the owner.
    pub(crate) fn reads_for(&self) -> CallerId {
        CallerId(self.holder.owner.id.0.as_u128())
    }

    /// Counts the request against the limits of the model, with the tokens that it may use, and
    /// holds its money.
    pub(crate) fn hold(
        &self,
        model: &Model,
        tokens: u64,
        want: Want,
    ) -> Result<HeldFunds, Refusal> {
        HeldFunds::open(self, model, tokens, want)
    }

    /// Holds money for work without a model. The endpoint has already counted the request.
    pub(crate) fn hold_plain(&self, want: Want) -> Result<HeldFunds, Refusal> {
        self.try_hold_plain(want)
            .map_err(|refused| payment::refuse_hold(&self.app.settings, refused))
    }

    /// The same, with the error as an enum that can be given to several callers.
    pub(crate) fn try_hold_plain(&self, want: Want) -> Result<HeldFunds, HoldRefused> {
        HeldFunds::open_plain(self, want)
    }
}
