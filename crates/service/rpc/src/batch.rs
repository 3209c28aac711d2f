//! The body of a proxy request: one call, or an array of up to a hundred.

use std::fmt;

use serde_json::value::RawValue;

use crate::call::{CallFault, CallForm, ProxyCall};
use crate::methods::{CallEffect, UnservedReason};
use crate::networks::RpcNetwork;
use crate::transaction::TransactionHash;
use crate::values::{self, RawJsonValues};

/// The maximum number of calls per request.
pub const CALLS_MAX: usize = 100;

/// Calls that were all validated for one network.
#[derive(Debug)]
pub struct CallBatch {
    network: RpcNetwork,
    calls: Vec<ProxyCall>,
    form: BatchForm,
}

impl CallBatch {
    /// Parses a body. One invalid call refuses the whole body, and every fault is reported.
    pub fn parse(network: RpcNetwork, body: &[u8]) -> Result<CallBatch, BatchRefusal> {
        if let Some(batch) = CallBatch::read_alone(network, body) {
            return Ok(batch);
        }
        if body.trim_ascii().is_empty() {
            return Err(BatchRefusal::malformed_body("The body is empty: send a JSON-RPC object"));
        }
        let values = values::parse_values(body, CALLS_MAX).map_err(|error| {
            BatchRefusal::malformed_body(format!("The body is not JSON: {error}"))
        })?;
        match values {
            RawJsonValues::One(item) => CallBatch::read(network, &[item], BatchForm::Single),
            RawJsonValues::Many { count: 0, .. } => {
                Err(BatchRefusal::malformed_body("The batch is empty: send 1 to 100 calls"))
            }
            RawJsonValues::Many { count, .. } if CALLS_MAX < count => {
                Err(BatchRefusal::malformed_body(format!(
                    "The batch has {count} calls: send at most {CALLS_MAX}"
                )))
            }
            RawJsonValues::Many { kept, .. } => CallBatch::read(network, &kept, BatchForm::Array),
        }
    }

    pub fn network(&self) -> RpcNetwork {
        self.network
    }

    /// The calls, at least one, in the order they were sent.
    pub fn calls(&self) -> &[ProxyCall] {
        &self.calls
    }

    /// The calls that submit a signed transaction, by position, each with its hash if that can be
    /// computed locally: one audit line each. Otherwise the hash is in the node's answer.
    pub fn submitted_transactions(&self) -> impl Iterator<Item = (usize, Option<TransactionHash>)> {
        let calls = self.calls.iter().enumerate();
        let sent = calls.filter(|(_, it)| it.method.effect == CallEffect::RawTransaction);
        sent.map(|(position, it)| (position, it.transaction_hash()))
    }

    pub(crate) fn form(&self) -> BatchForm {
        self.form
    }

    /// Parses a valid single call, the usual case, in one pass. None for any other body, whose
    /// faults are found item by item.
    fn read_alone(network: RpcNetwork, body: &[u8]) -> Option<CallBatch> {
        let text = str::from_utf8(body).ok()?;
        let call = ProxyCall::read(text, CallForm::Alone, network).ok()?;
        Some(CallBatch { network, calls: vec![call], form: BatchForm::Single })
    }

    fn read(
        network: RpcNetwork,
        items: &[&RawValue],
        form: BatchForm,
    ) -> Result<CallBatch, BatchRefusal> {
        let place = if form == BatchForm::Array { CallForm::InBatch } else { CallForm::Alone };
        let mut calls = Vec::with_capacity(items.len());
        let mut faults = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let index = (form == BatchForm::Array).then_some(position);
            match ProxyCall::read(item.get(), place, network) {
                Ok(call) => calls.push(call),
                Err(found) => faults.extend(found.into_iter().map(|it| (index, it))),
            }
        }
        if faults.is_empty() {
            return Ok(CallBatch { network, calls, form });
        }
        Err(BatchRefusal::from_faults(network, faults))
    }
}

/// The form of the request, which the response follows: one object or an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchForm {
    Single,
    Array,
}

/// The reason why a body was refused; nothing was forwarded and nothing is charged.
#[derive(Debug, PartialEq, Eq)]
pub enum BatchRefusal {
    /// The structure is invalid somewhere; unsupported methods are among the faults.
    Malformed(Vec<BatchFault>),
    /// The structure is valid, but these methods are not served; each is listed once.
    Unsupported(Vec<UnsupportedMethod>),
}

impl BatchRefusal {
    fn malformed_body(message: impl Into<String>) -> BatchRefusal {
        BatchRefusal::Malformed(vec![BatchFault {
            item: None,
            field: None,
            message: message.into(),
        }])
    }

    fn from_faults(network: RpcNetwork, faults: Vec<(Option<usize>, CallFault)>) -> BatchRefusal {
        let is_shape = |(_, it): &(_, CallFault)| matches!(it, CallFault::Shape { .. });
        if faults.iter().any(is_shape) {
            let describe = |(item, it)| BatchFault::new(network, item, it);
            return BatchRefusal::Malformed(faults.into_iter().map(describe).collect());
        }
        let mut offenders: Vec<UnsupportedMethod> = Vec::new();
        for (_, fault) in faults {
            let CallFault::Unserved { name, why } = fault else { continue };
            let is_named = offenders.iter().any(|it| it.method == name);
            if !is_named {
                offenders.push(UnsupportedMethod { method: name, why });
            }
        }
        BatchRefusal::Unsupported(offenders)
    }
}

/// The error message for the caller, in one line.
impl fmt::Display for BatchRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchRefusal::Malformed(faults) => match faults.as_slice() {
                [only] => f.write_str(&only.message),
                _ => f.write_str("Invalid request parameters"),
            },
            BatchRefusal::Unsupported(offenders) => {
                f.write_str("Unsupported methods: ")?;
                for (position, offender) in offenders.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    write!(f, "{separator}{} ({})", offender.method, offender.why.advice())?;
                }
                Ok(())
            }
        }
    }
}

/// One fault of a body: the item of the array, the member, and the message.
#[derive(Debug, PartialEq, Eq)]
pub struct BatchFault {
    pub item: Option<usize>,
    pub field: Option<&'static str>,
    pub message: String,
}

impl BatchFault {
    fn new(network: RpcNetwork, item: Option<usize>, fault: CallFault) -> BatchFault {
        match fault {
            CallFault::Shape { field, message } => {
                BatchFault { item, field, message: message.into_owned() }
            }
            CallFault::Unserved { name, why } => BatchFault {
                item,
                field: Some("method"),
                message: format!("{name} is not served on {network}: {}", why.advice()),
            },
        }
    }
}

/// A method that is not served.
#[derive(Debug, PartialEq, Eq)]
pub struct UnsupportedMethod {
    pub method: String,
    pub why: UnservedReason,
}

#[cfg(test)]
mod tests;
