//! Checkout sessions.

use serde_json::{Value, json};

use crate::double::StripeDouble;
use crate::request::{DoubleAnswer, FormFields};

/// The least amount of a payment in dollars, in cents.
const AMOUNT_LEAST: i64 = 50;

impl StripeDouble {
    pub(crate) fn create_session(&mut self, form: &FormFields) -> DoubleAnswer {
        let unit = form.integer("line_items[0][price_data][unit_amount]");
        let currency = form.get("line_items[0][price_data][currency]");
        let name = form.get("line_items[0][price_data][product_data][name]");
        let quantity = form.integer("line_items[0][quantity]").unwrap_or(1);
        let (Some(unit), Some(currency), Some(_)) = (unit, currency, name) else {
            return DoubleAnswer::invalid("A line item needs a price, a currency and a name");
        };
        if form.get("mode") != Some("payment") {
            return DoubleAnswer::invalid("The double knows only the mode `payment`");
        }
        let Some(success_url) = form.get("success_url") else {
            return DoubleAnswer::invalid("Missing required param: success_url.");
        };
        let subtotal = unit * quantity;
        if subtotal < AMOUNT_LEAST {
            let message =
                "The Checkout Session's total amount due must add up to at least $0.50 usd";
            return DoubleAnswer::invalid_code("amount_too_small", message);
        }
        let customer = match self.session_customer(form) {
            Ok(customer) => customer,
            Err(refusal) => return refusal,
        };
        let has_tax = form.is_true("automatic_tax[enabled]");
        let tax = if has_tax { subtotal * self.settings.tax_percent / 100 } else { 0 };
        let id = self.mint_id("cs_test");
        let session = json!({
            "id": id, "object": "checkout.session", "amount_subtotal": subtotal,
            "amount_total": subtotal + tax, "client_reference_id": form.get("client_reference_id"),
            "cancel_url": form.get("cancel_url"), "created": self.now_s, "currency": currency,
            "customer": customer, "livemode": self.settings.is_live,
            "metadata": form.object("metadata"), "mode": "payment", "payment_intent": null,
            "payment_status": "unpaid", "status": "open", "success_url": success_url,
            "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": tax},
            "url": format!("{}/pay/{id}", self.settings.page_url),
            "_intent_metadata": form.object("payment_intent_data[metadata]"),
        });
        self.sessions.add(session.clone());
        DoubleAnswer::ok(crate::actions::without_private(&session))
    }

    fn session_customer(&mut self, form: &FormFields) -> Result<Value, DoubleAnswer> {
        if let Some(customer) = form.get("customer") {
            return match self.customers.find(customer) {
                Some(_) => Ok(customer.into()),
                None => Err(DoubleAnswer::missing("customer", customer)),
            };
        }
        if form.get("customer_creation") != Some("always") {
            return Ok(Value::Null);
        }
        Ok(self.add_customer(form.get("customer_email")).into())
    }
}
