//! The body of a proxy request: one call, or an array of up to a hundred.

use std::fmt;

use serde_json::value::RawValue;

use crate::call::{Call, CallFault, CallForm};
use crate::methods::{Effect, Unserved};
use crate::networks::Network;
use crate::transaction::TransactionHash;
use crate::values::{self, Values};

/// The maximum number of calls per request.
pub const CALLS_MAX: usize = 100;

/// Calls that were all validated for one network.
#[derive(Debug)]
pub struct Batch {
    network: Network,
    calls: Vec<Call>,
    form: Form,
}

impl Batch {
    /// Parses a body. One invalid call refuses the whole body, and every fault is reported.
    pub fn parse(network: Network, body: &[u8]) -> Result<Batch, BatchRefusal> {
        if let Some(batch) = Batch::read_alone(network, body) {
            return Ok(batch);
        }
        if body.trim_ascii().is_empty() {
            return Err(BatchRefusal::whole("The body is empty: send a JSON-RPC object"));
        }
        let values = values::read(body, CALLS_MAX)
            .map_err(|error| BatchRefusal::whole(format!("The body is not JSON: {error}")))?;
        match values {
            Values::One(item) => Batch::read(network, &[item], Form::Single),
            Values::Many { count: 0, .. } => {
                Err(BatchRefusal::whole("The batch is empty: send 1 to 100 calls"))
            }
            Values::Many { count, .. } if CALLS_MAX < count => Err(BatchRefusal::whole(format!(
                "The batch has {count} calls: send at most {CALLS_MAX}"
            ))),
            Values::Many { kept, .. } => Batch::read(network, &kept, Form::Array),
        }
    }

    pub fn network(&self) -> Network {
        self.network
    }

    /// The calls, at least one, in the order they were sent.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The calls that submit a signed transaction, by position, each with its hash if that can be
    /// computed locally: one audit line each. Otherwise the hash is in the node's answer.
    pub fn transactions(&self) -> impl Iterator<Item = (usize, Option<TransactionHash>)> {
        let calls = self.calls.iter().enumerate();
        let sent = calls.filter(|(_, it)| it.method.effect == Effect::RawTransaction);
        sent.map(|(position, it)| (position, it.transaction_hash()))
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Parses a valid single call, the usual case, in one pass. None for any other body, whose
    /// faults are found item by item.
    fn read_alone(network: Network, body: &[u8]) -> Option<Batch> {
        let text = str::from_utf8(body).ok()?;
        let call = Call::read(text, CallForm::Alone, network).ok()?;
        Some(Batch { network, calls: vec![call], form: Form::Single })
    }

    fn read(network: Network, items: &[&RawValue], form: Form) -> Result<Batch, BatchRefusal> {
        let place = if form == Form::Array { CallForm::InBatch } else { CallForm::Alone };
        let mut calls = Vec::with_capacity(items.len());
        let mut faults = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let index = (form == Form::Array).then_some(position);
            match Call::read(item.get(), place, network) {
                Ok(call) => calls.push(call),
                Err(found) => faults.extend(found.into_iter().map(|it| (index, it))),
            }
        }
        if faults.is_empty() {
            return Ok(Batch { network, calls, form });
        }
        Err(BatchRefusal::from_faults(network, faults))
    }
}

/// The form of the request, which the response follows: one object or an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Single,
    Array,
}

/// The reason why a body was refused; nothing was forwarded and nothing is charged.
#[derive(Debug, PartialEq, Eq)]
pub enum BatchRefusal {
    /// The structure is invalid somewhere; unsupported methods are among the faults.
    Malformed(Vec<Fault>),
    /// The structure is valid, but these methods are not served; each is listed once.
    Unsupported(Vec<Offender>),
}

impl BatchRefusal {
    fn whole(message: impl Into<String>) -> BatchRefusal {
        BatchRefusal::Malformed(vec![Fault { item: None, field: None, message: message.into() }])
    }

    fn from_faults(network: Network, faults: Vec<(Option<usize>, CallFault)>) -> BatchRefusal {
        let is_shape = |(_, it): &(_, CallFault)| matches!(it, CallFault::Shape { .. });
        if faults.iter().any(is_shape) {
            let describe = |(item, it)| Fault::new(network, item, it);
            return BatchRefusal::Malformed(faults.into_iter().map(describe).collect());
        }
        let mut offenders: Vec<Offender> = Vec::new();
        for (_, fault) in faults {
            let CallFault::Unserved { name, why } = fault else { continue };
            let is_named = offenders.iter().any(|it| it.method == name);
            if !is_named {
                offenders.push(Offender { method: name, why });
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
pub struct Fault {
    pub item: Option<usize>,
    pub field: Option<&'static str>,
    pub message: String,
}

impl Fault {
    fn new(network: Network, item: Option<usize>, fault: CallFault) -> Fault {
        match fault {
            CallFault::Shape { field, message } => {
                Fault { item, field, message: message.into_owned() }
            }
            CallFault::Unserved { name, why } => Fault {
                item,
                field: Some("method"),
                message: format!("{name} is not served on {network}: {}", why.advice()),
            },
        }
    }
}

/// A method that is not served.
#[derive(Debug, PartialEq, Eq)]
pub struct Offender {
    pub method: String,
    pub why: Unserved,
}

#[cfg(test)]
mod tests;
