//! The parameters of each POST that the double knows. Stripe refuses others, and so does the double:
//! a misspelt parameter must not pass a test.

const CHECKOUT: [&str; 14] = [
    "mode",
    "client_reference_id",
    "metadata",
    "payment_intent_data",
    "line_items",
    "success_url",
    "cancel_url",
    "customer",
    "customer_creation",
    "customer_email",
    "adaptive_pricing",
    "automatic_tax",
    "tax_id_collection",
    "customer_update",
];
const CHECKOUT_OPTIONS: [&str; 4] =
    ["invoice_creation", "managed_payments", "allow_promotion_codes", "expires_at"];
const INTENT: [&str; 10] = [
    "amount",
    "currency",
    "customer",
    "payment_method",
    "off_session",
    "confirm",
    "automatic_payment_methods",
    "description",
    "metadata",
    "setup_future_usage",
];
const REFUND: [&str; 5] = ["payment_intent", "charge", "amount", "reason", "metadata"];
const PORTAL: [&str; 2] = ["customer", "return_url"];
const CANCEL: [&str; 1] = ["cancellation_reason"];

/// The first parameter that is not known. `names` may have brackets.
pub(crate) fn find_unknown<'a>(
    path: &str,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let known: Vec<&str> = match path {
        "/v1/checkout/sessions" => CHECKOUT.iter().chain(&CHECKOUT_OPTIONS).copied().collect(),
        "/v1/payment_intents" => INTENT.to_vec(),
        "/v1/refunds" => REFUND.to_vec(),
        "/v1/billing_portal/sessions" => PORTAL.to_vec(),
        path if path.ends_with("/cancel") => CANCEL.to_vec(),
        _ => return None,
    };
    let root = |name: &'a str| name.split_once('[').map_or(name, |(root, _)| root);
    names.find(|name| !known.contains(&root(name)))
}
