//! A page of a list.

use serde_json::Value;

use super::{
    EarlyFraudWarning, PaymentIntent, STRIPE_ANSWER_BYTES_MAX, StripeDispute, StripeEvent,
    StripeRefund,
};
use crate::lenient::{StripeFault, StripeObject, parse_json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeList<T> {
    pub items: Vec<T>,
    /// True if there is another page, after the last item.
    pub has_more: bool,
}

impl<T> StripeList<T> {
    /// A list without items.
    pub fn empty() -> StripeList<T> {
        StripeList { items: Vec::new(), has_more: false }
    }

    /// Appends the page that follows this one.
    pub fn append_page(&mut self, page: StripeList<T>) {
        self.items.extend(page.items);
        self.has_more = page.has_more;
    }
}

impl StripeList<StripeRefund> {
    pub fn parse_refunds(bytes: &[u8]) -> Result<StripeList<StripeRefund>, StripeFault> {
        read_list(bytes, StripeRefund::read)
    }
}

impl StripeList<StripeDispute> {
    pub fn parse_disputes(bytes: &[u8]) -> Result<StripeList<StripeDispute>, StripeFault> {
        read_list(bytes, StripeDispute::read)
    }
}

impl StripeList<EarlyFraudWarning> {
    pub fn parse_warnings(bytes: &[u8]) -> Result<StripeList<EarlyFraudWarning>, StripeFault> {
        read_list(bytes, EarlyFraudWarning::read)
    }
}

impl StripeList<PaymentIntent> {
    pub fn parse_intents(bytes: &[u8]) -> Result<StripeList<PaymentIntent>, StripeFault> {
        read_list(bytes, PaymentIntent::read)
    }
}

impl StripeList<StripeEvent> {
    pub fn parse_events(bytes: &[u8]) -> Result<StripeList<StripeEvent>, StripeFault> {
        read_list(bytes, StripeEvent::read)
    }
}

/// Every item must be readable: one that is skipped could be the refund that counts.
fn read_list<T>(
    bytes: &[u8],
    read: fn(&Value) -> Result<T, StripeFault>,
) -> Result<StripeList<T>, StripeFault> {
    let value = parse_json(bytes, STRIPE_ANSWER_BYTES_MAX)?;
    let object = StripeObject::new("list", &value)?;
    let items = object.get("data").and_then(Value::as_array).ok_or(object.fault("data"))?;
    let items = items.iter().map(read).collect::<Result<Vec<T>, StripeFault>>()?;
    Ok(StripeList { items, has_more: object.require_flag("has_more")? })
}
