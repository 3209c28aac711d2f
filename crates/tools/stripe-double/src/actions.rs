//! What payers, banks and the dashboard do.

use serde_json::{Value, json};

use crate::double::{StripeDouble, integer, set, text};

/// The fee of a dispute, which is no part of its amount.
const DISPUTE_FEE_CENTS: i64 = 1500;

/// The way in which a session is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentMethodKind {
    /// The money is there at once.
    Card,
    /// The money comes later, or not at all: a bank debit.
    BankDebit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisputeEnd {
    Won,
    Lost,
}

/// An action that is not possible in the state of its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionFault(pub String);

type ActionResult<T> = Result<T, ActionFault>;

impl StripeDouble {
    /// The payer finishes a session. Returns the PaymentIntent.
    pub fn pay_session(&mut self, session: &str, kind: PaymentMethodKind) -> ActionResult<String> {
        let found = self.sessions.find(session).ok_or_else(|| missing(session))?;
        if text(found, "status") != "open" {
            return Err(ActionFault(format!("{session} is {}", text(found, "status"))));
        }
        let (amount, customer) = (integer(found, "amount_total"), found.get("customer").cloned());
        let metadata = found.get("_intent_metadata").cloned().unwrap_or(json!({}));
        let intent = self.add_intent(amount, customer.unwrap_or(Value::Null), metadata);
        let payment_status = match kind {
            PaymentMethodKind::Card => "paid",
            PaymentMethodKind::BankDebit => "unpaid",
        };
        let session = self.change_session(session, |session| {
            set(session, "status", "complete");
            set(session, "payment_status", payment_status);
            set(session, "payment_intent", intent.as_str());
            set(session, "url", Value::Null);
        })?;
        match kind {
            PaymentMethodKind::Card => self.succeed_intent(&intent)?,
            PaymentMethodKind::BankDebit => {
                self.change_intent(&intent, |intent| set(intent, "status", "processing"))?;
            }
        }
        self.emit("checkout.session.completed", &session);
        Ok(intent)
    }

    /// A session is not paid in time.
    pub fn expire_session(&mut self, session: &str) -> ActionResult<()> {
        let found = self.sessions.find(session).ok_or_else(|| missing(session))?;
        if text(found, "status") != "open" {
            return Err(ActionFault(format!("{session} is {}", text(found, "status"))));
        }
        let session = self.change_session(session, |session| {
            set(session, "status", "expired");
            set(session, "url", Value::Null);
        })?;
        self.emit("checkout.session.expired", &session);
        Ok(())
    }

    /// The money of a bank debit arrives, or does not.
    pub fn finish_debit(&mut self, intent: &str, has_arrived: bool) -> ActionResult<()> {
        let found = self.intents.find(intent).ok_or_else(|| missing(intent))?;
        if text(found, "status") != "processing" {
            return Err(ActionFault(format!("{intent} is {}", text(found, "status"))));
        }
        let sessions = self.sessions.items().iter();
        let session = sessions.filter(|it| text(it, "payment_intent") == intent);
        let session = session.map(|it| text(it, "id").to_owned()).next();
        if has_arrived {
            self.succeed_intent(intent)?;
        } else {
            let failed = self.change_intent(intent, |intent| {
                set(intent, "status", "requires_payment_method");
                set(
                    intent,
                    "last_payment_error",
                    json!({"type": "card_error", "code": "debit_not_authorized"}),
                );
            })?;
            self.emit("payment_intent.payment_failed", &failed);
        }
        let Some(session) = session else { return Ok(()) };
        let event = if has_arrived { "succeeded" } else { "failed" };
        let session = self.change_session(&session, |session| {
            set(session, "payment_status", if has_arrived { "paid" } else { "unpaid" });
        })?;
        self.emit(&format!("checkout.session.async_payment_{event}"), &session);
        Ok(())
    }

    /// A refund, by the API or the dashboard. Returns its id.
    pub fn refund(&mut self, intent: &str, amount: i64, metadata: Value) -> ActionResult<String> {
        let left = self.unrefunded(intent)?;
        if amount <= 0 || left < amount {
            return Err(ActionFault(format!(
                "Refund amount ({amount}) is greater than unrefunded amount on charge ({left})"
            )));
        }
        let charge = self.charge_of(intent)?;
        let id = self.mint_id("re");
        let refund = json!({
            "id": id, "object": "refund", "amount": amount, "charge": charge, "currency": "usd",
            "created": self.now_s, "metadata": metadata, "payment_intent": intent,
            "reason": "requested_by_customer", "status": "succeeded",
        });
        self.refunds.add(refund.clone());
        self.update_charge(intent)?;
        self.emit("refund.created", &refund);
        let charge = self.charges.find(&charge).cloned().unwrap_or_default();
        self.emit("charge.refunded", &charge);
        Ok(id)
    }

    /// A refund fails, possibly days after it succeeded: the money is back.
    pub fn fail_refund(&mut self, refund: &str) -> ActionResult<()> {
        let found = self.refunds.find_mut(refund).ok_or_else(|| missing(refund))?;
        if text(found, "status") == "failed" {
            return Err(ActionFault(format!("{refund} has failed before")));
        }
        set(found, "status", "failed");
        set(found, "failure_reason", "lost_or_stolen_card");
        let found = found.clone();
        self.update_charge(text(&found, "payment_intent"))?;
        self.emit("refund.updated", &found);
        self.emit("refund.failed", &found);
        Ok(())
    }

    /// The payer's bank disputes a payment: the money leaves at once, unless it is an inquiry.
    pub fn dispute(&mut self, intent: &str, amount: i64, is_inquiry: bool) -> ActionResult<String> {
        let charge = self.charge_of(intent)?;
        let left = self.unrefunded(intent)?;
        if amount <= 0 || left < amount {
            return Err(ActionFault(format!("{left} of {intent} is left")));
        }
        let id = self.mint_id("dp");
        let moved = if is_inquiry { json!([]) } else { json!([self.balance_move(-amount)]) };
        let status = if is_inquiry { "warning_needs_response" } else { "needs_response" };
        let dispute = json!({
            "id": id, "object": "dispute", "amount": amount, "balance_transactions": moved,
            "charge": charge, "created": self.now_s, "currency": "usd",
            "livemode": self.settings.is_live, "metadata": {}, "payment_intent": intent,
            "reason": "fraudulent", "status": status,
        });
        self.disputes.add(dispute.clone());
        self.update_charge(intent)?;
        self.emit("charge.dispute.created", &dispute);
        if !is_inquiry {
            self.emit("charge.dispute.funds_withdrawn", &dispute);
        }
        Ok(id)
    }

    /// The bank decides a dispute.
    pub fn end_dispute(&mut self, dispute: &str, end: DisputeEnd) -> ActionResult<()> {
        let found = self.disputes.find(dispute).ok_or_else(|| missing(dispute))?;
        if text(found, "status") != "needs_response" {
            return Err(ActionFault(format!("{dispute} is {}", text(found, "status"))));
        }
        let back = self.balance_move(integer(found, "amount"));
        let found = self.disputes.find_mut(dispute).ok_or_else(|| missing(dispute))?;
        match end {
            DisputeEnd::Lost => set(found, "status", "lost"),
            DisputeEnd::Won => {
                set(found, "status", "won");
                let moved = found.get_mut("balance_transactions").and_then(Value::as_array_mut);
                moved.into_iter().for_each(|moved| moved.push(back.clone()));
            }
        }
        let found = found.clone();
        if end == DisputeEnd::Won {
            self.emit("charge.dispute.funds_reinstated", &found);
        }
        self.emit("charge.dispute.closed", &found);
        Ok(())
    }

    /// The card's network expects a dispute.
    pub fn warn(&mut self, intent: &str) -> ActionResult<String> {
        let charge = self.charge_of(intent)?;
        let id = self.mint_id("issfr");
        let warning = json!({
            "id": id, "object": "radar.early_fraud_warning", "actionable": true, "charge": charge,
            "created": self.now_s, "fraud_type": "unauthorized_use_of_card",
            "livemode": self.settings.is_live, "payment_intent": intent,
        });
        self.warnings.add(warning.clone());
        self.emit("radar.early_fraud_warning.created", &warning);
        Ok(id)
    }

    /// Another amount arrives than was asked for.
    pub fn change_received(&mut self, intent: &str, amount: i64) {
        if let Some(found) = self.intents.find_mut(intent) {
            set(found, "amount_received", amount);
        }
    }

    pub(crate) fn add_intent(&mut self, amount: i64, customer: Value, metadata: Value) -> String {
        let id = self.mint_id("pi");
        self.intents.add(json!({
            "id": id, "object": "payment_intent", "amount": amount, "amount_received": 0,
            "created": self.now_s, "currency": "usd", "customer": customer,
            "last_payment_error": null, "latest_charge": null,
            "livemode": self.settings.is_live, "metadata": metadata, "payment_method": null,
            "status": "requires_payment_method",
        }));
        id
    }

    pub(crate) fn succeed_intent(&mut self, intent: &str) -> ActionResult<()> {
        let (charge, method) = (self.mint_id("ch"), self.mint_id("pm"));
        let paid = self.change_intent(intent, |intent| {
            let amount = integer(intent, "amount");
            set(intent, "status", "succeeded");
            set(intent, "amount_received", amount);
            set(intent, "latest_charge", charge.as_str());
            if intent.get("payment_method").is_none_or(Value::is_null) {
                set(intent, "payment_method", method);
            }
        })?;
        self.charges.add(json!({
            "id": charge, "object": "charge", "amount": paid.get("amount"), "amount_refunded": 0,
            "captured": true, "created": self.now_s, "currency": "usd",
            "customer": paid.get("customer"), "disputed": false,
            "livemode": self.settings.is_live, "metadata": paid.get("metadata"), "paid": true,
            "payment_intent": intent, "refunded": false, "status": "succeeded",
        }));
        self.emit("payment_intent.succeeded", &paid);
        Ok(())
    }

    pub(crate) fn change_intent(
        &mut self,
        intent: &str,
        change: impl FnOnce(&mut Value),
    ) -> ActionResult<Value> {
        let found = self.intents.find_mut(intent).ok_or_else(|| missing(intent))?;
        change(found);
        Ok(found.clone())
    }

    fn change_session(
        &mut self,
        session: &str,
        change: impl FnOnce(&mut Value),
    ) -> ActionResult<Value> {
        let found = self.sessions.find_mut(session).ok_or_else(|| missing(session))?;
        change(found);
        Ok(without_private(found))
    }

    fn charge_of(&self, intent: &str) -> ActionResult<String> {
        let found = self.intents.find(intent).ok_or_else(|| missing(intent))?;
        let charge = text(found, "latest_charge");
        if charge.is_empty() {
            return Err(ActionFault(format!("{intent} has no successful charge to refund")));
        }
        Ok(charge.to_owned())
    }

    /// The amount that was neither refunded nor disputed, in cents.
    fn unrefunded(&self, intent: &str) -> ActionResult<i64> {
        let found = self.intents.find(intent).ok_or_else(|| missing(intent))?;
        let refunds = self.refunds.of_intent(intent);
        let refunds = refunds.filter(|refund| text(refund, "status") != "failed");
        let disputes = self.disputes.of_intent(intent);
        let disputes =
            disputes.filter(|it| ["needs_response", "lost"].contains(&text(it, "status")));
        let taken = refunds.chain(disputes).map(|it| integer(it, "amount")).sum::<i64>();
        Ok(integer(found, "amount_received") - taken)
    }

    /// Derives the sums of a payment's charge.
    fn update_charge(&mut self, intent: &str) -> ActionResult<()> {
        let charge = self.charge_of(intent)?;
        let refunds = self.refunds.of_intent(intent);
        let refunds = refunds.filter(|refund| text(refund, "status") != "failed");
        let refunded: i64 = refunds.map(|refund| integer(refund, "amount")).sum();
        let is_disputed = self.disputes.of_intent(intent).next().is_some();
        if let Some(charge) = self.charges.find_mut(&charge) {
            let is_refunded = refunded == integer(charge, "amount");
            set(charge, "amount_refunded", refunded);
            set(charge, "refunded", is_refunded);
            set(charge, "disputed", is_disputed);
        }
        Ok(())
    }

    fn balance_move(&mut self, amount: i64) -> Value {
        let fee = if amount < 0 { DISPUTE_FEE_CENTS } else { 0 };
        json!({
            "id": self.mint_id("txn"), "object": "balance_transaction", "amount": amount,
            "currency": "usd", "fee": fee, "net": amount - fee, "type": "adjustment",
        })
    }
}

/// An object without the fields that only the double reads.
pub(crate) fn without_private(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| !name.starts_with('_'));
    }
    object
}

fn missing(id: &str) -> ActionFault {
    ActionFault(format!("there is no {id}"))
}
