//! The one path of paid work: resolve the model → admit → hold → run → charge or release.
//!
//! An endpoint makes a [`PaidCall`] of its call, says what the work costs at most, and gets
//! [`HeldFunds`], which end in one of four ways. Work that gives its result whole ends in
//! [`HeldFunds::run`]. Chats and streams pay for what was sent (`paid_chat`,
//! `audio/speech/stream`), and calls to a chain for the items that were answered
//! ([`HeldFunds::pay_with`]). A queued job keeps its money in the store (`queued`).

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

/// A call of somebody who can pay, without its input.
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

    /// The model that answers to `name`, if it is of this type and may be used by the caller: where
    /// it is, and with its key.
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

    /// The same, for whoever knows what to do without the model.
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

    /// From here on the headers show the limits of this model, whatever the outcome of the request.
    pub(crate) fn note_standing(&self, model: &Model) {
        self.standing.set(self.app.standing_with(&self.holder, model, self.now));
    }

    /// Refuses what the limits of the model or the caller's money would not let through anyway,
    /// before anything is done that costs us. Nothing is counted, and nothing stays held.
    pub(crate) fn refuse_if_hopeless(&self, model: &Model, least: Cost) -> Result<(), Refusal> {
        let PaidCall { app, holder, standing, .. } = self;
        app.refuse_if_spent(holder, model, standing)?;
        let hold = app.ledger.hold(holder.payer(), Want::Exactly(least));
        app.ledger.release(hold.map_err(|refused| payment::refuse_hold(&app.settings, refused))?);
        Ok(())
    }

    /// Whom the reader works for: all of an owner's keys together.
    pub(crate) fn reads_for(&self) -> CallerId {
        CallerId(self.holder.owner.id.0.as_u128())
    }

    /// Counts the request against the limits of the model, with the tokens that it may use, and
    /// sets its money aside.
    pub(crate) fn hold(
        &self,
        model: &Model,
        tokens: u64,
        want: Want,
    ) -> Result<HeldFunds, Refusal> {
        HeldFunds::open(self, model, tokens, want)
    }

    /// Sets the money of work without a model aside. Its endpoint has counted the request.
    pub(crate) fn hold_plain(&self, want: Want) -> Result<HeldFunds, Refusal> {
        self.try_hold_plain(want)
            .map_err(|refused| payment::refuse_hold(&self.app.settings, refused))
    }

    /// The same, for work whose refusal is given to several callers.
    pub(crate) fn try_hold_plain(&self, want: Want) -> Result<HeldFunds, HoldRefused> {
        HeldFunds::open_plain(self, want)
    }
}
