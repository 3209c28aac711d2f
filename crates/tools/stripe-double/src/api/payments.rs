//! Payments without a page, and refunds.

use serde_json::{Value, json};

use crate::actions::{ActionFault, without_private};
use crate::double::{ObjectTable, StripeDouble, set, text};
use crate::request::{DoubleAnswer, FormFields};

impl StripeDouble {
    /// Charges a kept card. The payment method decides: `pm_card_declined` is declined,
    /// `pm_card_authenticate` must be confirmed by its holder, others are charged.
    pub(crate) fn create_intent(&mut self, form: &FormFields) -> DoubleAnswer {
        let (Some(amount), Some("usd")) = (form.integer("amount"), form.get("currency")) else {
            return DoubleAnswer::invalid("The double needs an amount in usd");
        };
        let customer = form.get("customer").unwrap_or_default();
        if self.customers.find(customer).is_none() {
            return DoubleAnswer::missing("customer", customer);
        }
        let id = self.add_intent(amount, customer.into(), form.object("metadata"));
        let method = form.get("payment_method").unwrap_or_default().to_owned();
        let changed =
            self.change_intent(&id, |intent| set(intent, "payment_method", method.as_str()));
        let refusal = match method.as_str() {
            _ if !form.is_true("confirm") => return answer_action(changed),
            "pm_card_declined" => Some(("card_declined", "Your card was declined.")),
            "pm_card_authenticate" => {
                Some(("authentication_required", "Your card was declined. It must be confirmed."))
            }
            _ => None,
        };
        let Some((code, message)) = refusal else {
            let paid = self.succeed_intent(&id).map(|()| self.intents.find(&id).cloned());
            return answer_action(paid.map(Option::unwrap_or_default));
        };
        let error = json!({"type": "card_error", "code": code, "message": message});
        let failed = self.change_intent(&id, |intent| set(intent, "last_payment_error", error));
        let Ok(failed) = failed else { return answer_action(failed) };
        self.emit("payment_intent.payment_failed", &failed);
        let error = json!({
            "type": "card_error", "code": code, "message": message, "payment_intent": failed,
        });
        DoubleAnswer::error(402, error)
    }

    pub(crate) fn cancel_intent(&mut self, id: &str) -> DoubleAnswer {
        let Some(intent) = self.intents.find(id) else {
            return DoubleAnswer::missing("payment_intent", id);
        };
        if ["succeeded", "canceled", "processing"].contains(&text(intent, "status")) {
            let message =
                format!("A PaymentIntent that is {} cannot be canceled", text(intent, "status"));
            return DoubleAnswer::invalid_code("payment_intent_unexpected_state", &message);
        }
        let canceled = self.change_intent(id, |intent| set(intent, "status", "canceled"));
        if let Ok(canceled) = &canceled {
            self.emit("payment_intent.canceled", canceled);
        }
        answer_action(canceled)
    }

    pub(crate) fn create_refund(&mut self, form: &FormFields) -> DoubleAnswer {
        let intent = form.get("payment_intent").unwrap_or_default();
        let Some(found) = self.intents.find(intent) else {
            return DoubleAnswer::missing("payment_intent", intent);
        };
        let whole = found.get("amount_received").and_then(Value::as_i64).unwrap_or_default();
        let amount = form.integer("amount").unwrap_or(whole);
        let made = self.refund(intent, amount, form.object("metadata"));
        answer_action(made.map(|id| self.refunds.find(&id).cloned().unwrap_or_default()))
    }

    pub(crate) fn retrieve(&self, kind: &str, table: &ObjectTable, id: &str) -> DoubleAnswer {
        match table.find(id) {
            Some(found) => DoubleAnswer::ok(without_private(found)),
            None => DoubleAnswer::missing(kind, id),
        }
    }
}

fn answer_action(done: Result<Value, ActionFault>) -> DoubleAnswer {
    match done {
        Ok(object) => DoubleAnswer::ok(object),
        Err(ActionFault(message)) => DoubleAnswer::invalid(message),
    }
}
