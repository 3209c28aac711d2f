//! Requests that make payments, refunds and pages.

use uuid::Uuid;

use super::{StripeCall, StripeMethod};
use crate::amount::UsdCents;
use crate::form::StripeForm;
use crate::order::CardOrderId;
use crate::refund_request::OpenRefund;
use crate::return_url::ReturnUrl;
use crate::stripe_id::StripeId;

/// A Checkout page for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckoutOrder<'a> {
    pub order: CardOrderId,
    pub amount: UsdCents,
    /// The name of what is bought, such as `Credit`.
    pub product: &'a str,
    pub success_url: &'a ReturnUrl,
    pub cancel_url: &'a ReturnUrl,
    /// The customer of an earlier payment.
    pub customer: Option<&'a StripeId>,
    /// Fills in the address of a new customer.
    pub email: Option<&'a str>,
    pub options: CheckoutOptions,
}

/// The operator's choices for a Checkout, and the person's consent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckoutOptions {
    /// Keeps the card for automatic recharges, to which the person has agreed.
    pub saves_card: bool,
    /// Adds tax to the amount.
    pub adds_tax: bool,
    pub makes_invoice: bool,
    /// Stripe sells in its own name, and handles tax.
    pub is_managed: bool,
}

/// A charge of a kept card while its holder is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffSessionCharge<'a> {
    pub order: CardOrderId,
    pub amount: UsdCents,
    pub product: &'a str,
    pub customer: &'a StripeId,
    pub payment_method: &'a StripeId,
}

impl StripeCall {
    pub fn create_checkout(checkout: &CheckoutOrder<'_>) -> StripeCall {
        let order = checkout.order.to_string();
        let options = checkout.options;
        let price = |field: &'static str| ["line_items", "0", "price_data", field];
        let product = ["line_items", "0", "price_data", "product_data", "name"];
        let customer = checkout.customer.map(StripeId::as_str);
        let email = checkout.email.filter(|_| customer.is_none());
        // A card is kept with a customer, and the portal needs one.
        let makes_customer = customer.is_none() && !options.is_managed;
        let form = StripeForm::new()
            .set(&["mode"], "payment")
            .set(&["client_reference_id"], &order)
            .set(&["metadata", "tollgate_order"], &order)
            .set(&["payment_intent_data", "metadata", "tollgate_order"], &order)
            .set(&["line_items", "0", "quantity"], "1")
            .set(&price("currency"), "usd")
            .set(&price("unit_amount"), checkout.amount.cents().to_string())
            .set(&product, checkout.product)
            .set_if(options.adds_tax, &price("tax_behavior"), "exclusive")
            .set(&["success_url"], checkout.success_url.as_str())
            .set(&["cancel_url"], checkout.cancel_url.as_str())
            .set_some(&["customer"], customer)
            .set_some(&["customer_email"], email)
            .set_if(makes_customer, &["customer_creation"], "always")
            .set_if(
                options.saves_card,
                &["payment_intent_data", "setup_future_usage"],
                "off_session",
            )
            // Said explicitly: the default is a setting of the dashboard, and a discount or another
            // currency would change what arrives.
            .set(&["adaptive_pricing", "enabled"], "false")
            .set_if(options.adds_tax, &["automatic_tax", "enabled"], "true")
            .set_if(options.adds_tax, &["tax_id_collection", "enabled"], "true")
            .set_if(options.adds_tax && customer.is_some(), &["customer_update", "address"], "auto")
            .set_if(options.adds_tax && customer.is_some(), &["customer_update", "name"], "auto")
            .set_if(options.makes_invoice, &["invoice_creation", "enabled"], "true")
            .set_if(options.is_managed, &["managed_payments", "enabled"], "true");
        post("/v1/checkout/sessions", form, format!("tollgate-checkout-{order}"))
    }

    /// Charges a kept card. An issuer may answer that its holder must confirm: see
    /// [`judge_attempt_answer`](crate::judge_attempt_answer).
    pub fn charge_off_session(charge: &OffSessionCharge<'_>) -> StripeCall {
        let order = charge.order.to_string();
        let form = StripeForm::new()
            .set(&["amount"], charge.amount.cents().to_string())
            .set(&["currency"], "usd")
            .set(&["customer"], charge.customer.as_str())
            .set(&["payment_method"], charge.payment_method.as_str())
            .set(&["off_session"], "true")
            .set(&["confirm"], "true")
            .set(&["automatic_payment_methods", "enabled"], "true")
            .set(&["automatic_payment_methods", "allow_redirects"], "never")
            .set(&["description"], charge.product)
            .set(&["metadata", "tollgate_order"], &order);
        post("/v1/payment_intents", form, format!("tollgate-recharge-{order}"))
    }

    /// Cancels a PaymentIntent that its holder would have to confirm, so that it cannot be paid
    /// besides the page that replaces it.
    pub fn cancel_intent(intent: &StripeId) -> StripeCall {
        let path = format!("/v1/payment_intents/{intent}/cancel");
        let form = StripeForm::new().set(&["cancellation_reason"], "abandoned");
        post(&path, form, format!("tollgate-cancel-{intent}"))
    }

    pub fn create_refund(intent: &StripeId, refund: &OpenRefund) -> StripeCall {
        let request = refund.id.to_string();
        let form = StripeForm::new()
            .set(&["payment_intent"], intent.as_str())
            .set(&["amount"], refund.payment.cents().to_string())
            .set(&["reason"], "requested_by_customer")
            .set(&["metadata", "tollgate_refund"], &request);
        post("/v1/refunds", form, format!("tollgate-refund-{request}"))
    }

    /// A page on which a customer sees and changes cards, invoices and addresses. `request` is the id
    /// of the caller's request: each gets a page of its own.
    pub fn create_portal(customer: &StripeId, return_url: &ReturnUrl, request: Uuid) -> StripeCall {
        let form = StripeForm::new()
            .set(&["customer"], customer.as_str())
            .set(&["return_url"], return_url.as_str());
        post("/v1/billing_portal/sessions", form, format!("tollgate-portal-{request}"))
    }

    /// Deletes a customer with its cards, for a person who is deleted here.
    pub fn delete_customer(customer: &StripeId) -> StripeCall {
        let path = format!("/v1/customers/{customer}");
        StripeCall { method: StripeMethod::Delete, path, form: None, idempotency_key: None }
    }
}

fn post(path: &str, form: StripeForm, idempotency_key: String) -> StripeCall {
    StripeCall {
        method: StripeMethod::Post,
        path: path.to_owned(),
        form: Some(form.finish()),
        idempotency_key: Some(idempotency_key),
    }
}
