//! One validated JSON-RPC call of a caller, with its id and parameters kept as bytes.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::methods::{CallEffect, RpcMethod, UnservedReason};
use crate::networks::{ChainFamily, RpcNetwork};
use crate::transaction::TransactionHash;
use crate::values;

/// Longer than any served method's name, even with every letter escaped.
const METHOD_BYTES_MAX: usize = 512;

/// A call that may be forwarded to a node of the network it was parsed for.
pub struct ProxyCall {
    pub method: &'static RpcMethod,
    id: Option<Box<RawValue>>,
    params: Option<Box<RawValue>>,
}

impl ProxyCall {
    /// The caller's id byte for byte; `null` if there was none.
    pub fn id(&self) -> &str {
        self.id.as_ref().map_or("null", |it| it.get())
    }

    /// The parameters byte for byte; an empty array if there were none.
    pub fn params(&self) -> &str {
        self.params.as_ref().map_or("[]", |it| it.get())
    }

    pub fn is_read(&self) -> bool {
        self.method.effect == CallEffect::Read
    }

    /// The hash of the transaction this call submits, for the audit line. `None` for other calls,
    /// and for a payload whose hash cannot be computed locally.
    pub fn transaction_hash(&self) -> Option<TransactionHash> {
        match self.method.effect {
            CallEffect::RawTransaction => TransactionHash::of_params(self.params()),
            CallEffect::Read | CallEffect::Submit => None,
        }
    }

    /// Validates one item of a body and reports all of its faults.
    pub(crate) fn read(
        item: &str,
        form: CallForm,
        network: RpcNetwork,
    ) -> Result<ProxyCall, Vec<CallFault>> {
        let is_object = item.starts_with('{');
        if !is_object {
            return Err(vec![CallFault::of_item("Expected a JSON-RPC object")]);
        }
        let members: CallMembers<'_> = match serde_json::from_str(item) {
            Ok(members) => members,
            Err(error) => return Err(vec![CallFault::of_item(format!("Not readable: {error}"))]),
        };
        let mut faults = Vec::new();
        faults.extend(version_fault(members.jsonrpc));
        faults.extend(id_fault(members.id, form));
        faults.extend(params_fault(members.params, network));
        match served_method(members.method, network) {
            Ok(method) if faults.is_empty() => Ok(ProxyCall {
                method,
                id: members.id.map(RawValue::to_owned),
                params: members.params.map(RawValue::to_owned),
            }),
            Ok(_) => Err(faults),
            Err(fault) => {
                faults.push(fault);
                Err(faults)
            }
        }
    }
}

/// Prints only the method, because parameters may hold a signed payload.
impl fmt::Debug for ProxyCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", self.method.name)
    }
}

/// The form in which a call was sent: alone, or in an array, where it needs an id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallForm {
    Alone,
    InBatch,
}

/// One fault of a call.
#[derive(Debug)]
pub(crate) enum CallFault {
    Shape { field: Option<&'static str>, message: Cow<'static, str> },
    Unserved { name: String, why: UnservedReason },
}

impl CallFault {
    fn of_item(message: impl Into<Cow<'static, str>>) -> CallFault {
        CallFault::Shape { field: None, message: message.into() }
    }

    fn of_field(field: &'static str, message: &'static str) -> CallFault {
        CallFault::Shape { field: Some(field), message: message.into() }
    }
}

#[derive(Deserialize)]
struct CallMembers<'a> {
    #[serde(borrow, default, deserialize_with = "values::present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "values::present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "values::present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "values::present")]
    params: Option<&'a RawValue>,
}

fn version_fault(jsonrpc: Option<&RawValue>) -> Option<CallFault> {
    let is_right = jsonrpc?.get() == r#""2.0""#;
    (!is_right).then(|| CallFault::of_field("jsonrpc", "Expected \"2.0\""))
}

/// Checks the id. Integers of any size are allowed, because nodes never see the caller's id (see
/// `exchange`).
fn id_fault(id: Option<&RawValue>, form: CallForm) -> Option<CallFault> {
    let Some(id) = id else {
        let is_needed = form == CallForm::InBatch;
        return is_needed.then(|| CallFault::of_field("id", "Required in a batch"));
    };
    let text = id.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_known = is_integer || text == "null" || text.starts_with('"');
    (!is_known).then(|| CallFault::of_field("id", "Expected an integer, a string or null"))
}

/// Checks the parameters, which are an array; Starknet clients also send them by name, as its nodes
/// expect.
fn params_fault(params: Option<&RawValue>, network: RpcNetwork) -> Option<CallFault> {
    let text = params?.get();
    let is_by_name = text.starts_with('{') && network.family() == ChainFamily::Starknet;
    let is_right = text.starts_with('[') || is_by_name;
    (!is_right).then(|| CallFault::of_field("params", "Expected an array"))
}

fn served_method(
    method: Option<&RawValue>,
    network: RpcNetwork,
) -> Result<&'static RpcMethod, CallFault> {
    let Some(method) = method else {
        return Err(CallFault::of_field("method", "Required"));
    };
    if METHOD_BYTES_MAX < method.get().len() {
        return Err(CallFault::of_field("method", "Too long to be a method's name"));
    }
    let Ok(name) = serde_json::from_str::<String>(method.get()) else {
        return Err(CallFault::of_field("method", "Expected a string"));
    };
    RpcMethod::parse(&name, network).map_err(|why| CallFault::Unserved { name, why })
}
