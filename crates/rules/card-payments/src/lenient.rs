//! Reads Stripe's JSON leniently: what we do not use may have any form, and fields may be added.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::amount::UsdCents;
use crate::stripe_id::StripeId;

/// A field that we need is missing or has another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StripeFault {
    #[error("Stripe's answer is not a JSON object, or too large")]
    Malformed,
    #[error("Stripe's {object} has no usable `{field}`")]
    Field { object: &'static str, field: &'static str },
}

/// An object of Stripe's with its kind, for errors.
#[derive(Clone, Copy)]
pub(crate) struct StripeObject<'a> {
    kind: &'static str,
    fields: &'a Map<String, Value>,
}

impl<'a> StripeObject<'a> {
    /// Fails unless the value is an object and, if it names its kind, of this one.
    pub(crate) fn new(
        kind: &'static str,
        value: &'a Value,
    ) -> Result<StripeObject<'a>, StripeFault> {
        let fields = value.as_object().ok_or(StripeFault::Malformed)?;
        let is_kind = fields.get("object").is_none_or(|named| named == kind);
        let object = StripeObject { kind, fields };
        if is_kind { Ok(object) } else { Err(object.fault("object")) }
    }

    pub(crate) fn get(self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn text(self, field: &str) -> Option<&'a str> {
        self.get(field)?.as_str()
    }

    pub(crate) fn is_true(self, field: &str) -> bool {
        self.get(field) == Some(&Value::Bool(true))
    }

    pub(crate) fn require_id(self) -> Result<StripeId, StripeFault> {
        self.text("id").and_then(StripeId::parse).ok_or(self.fault("id"))
    }

    pub(crate) fn require_flag(self, field: &'static str) -> Result<bool, StripeFault> {
        self.get(field).and_then(Value::as_bool).ok_or(self.fault(field))
    }

    pub(crate) fn require_text(self, field: &'static str) -> Result<&'a str, StripeFault> {
        self.text(field).ok_or(self.fault(field))
    }

    /// An amount in the smallest unit of its currency.
    pub(crate) fn require_amount(self, field: &'static str) -> Result<UsdCents, StripeFault> {
        self.amount(field)?.ok_or(self.fault(field))
    }

    /// None if the amount is absent.
    pub(crate) fn amount(self, field: &'static str) -> Result<Option<UsdCents>, StripeFault> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let cents = value.as_u64().and_then(|it| u32::try_from(it).ok());
        cents.map(|it| Some(UsdCents::from_cents(it))).ok_or(self.fault(field))
    }

    /// The id of another object, which is a text or the object itself.
    pub(crate) fn reference(self, field: &str) -> Option<StripeId> {
        let value = self.get(field)?;
        let id = value.as_str().or_else(|| value.get("id")?.as_str())?;
        StripeId::parse(id)
    }

    /// Our own entry of the metadata.
    pub(crate) fn metadata(self, name: &str) -> Option<&'a str> {
        self.get("metadata")?.get(name)?.as_str()
    }

    pub(crate) fn fault(self, field: &'static str) -> StripeFault {
        StripeFault::Field { object: self.kind, field }
    }
}

/// The JSON of an answer. Fails if it is too long.
pub(crate) fn parse_json(bytes: &[u8], bytes_max: usize) -> Result<Value, StripeFault> {
    if bytes_max < bytes.len() {
        return Err(StripeFault::Malformed);
    }
    serde_json::from_slice(bytes).map_err(|_| StripeFault::Malformed)
}
