//! The answers to a batch so far, and the calls that may still be sent to another node.
//!
//! Nodes never see the caller's ids. Each call goes out under its position, counted from one, and
//! its answer gets the caller's id back byte for byte: so duplicate ids, ids beyond 2⁵³ and ids
//! that a node would rewrite all come back as they were sent.
//!
//! A read may be retried on other nodes until one answers. A call that submits something is retried
//! only if the first node definitely did not accept it. A signed transaction would have the same
//! effect twice, but the second node's "nonce too low" would hide the first one's success.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::batch::{BatchForm, CallBatch};
use crate::billing::CallOutcome;
use crate::call::ProxyCall;
use crate::immutable;
use crate::methods::CallEffect;
use crate::node_answer::{AnswerItem, NodeAnswer};
use crate::transaction;

/// JSON-RPC's "internal error", for errors that did not come from a node.
const INTERNAL_ERROR_CODE: i64 = -32603;
const METHOD_NOT_FOUND_CODE: i64 = -32601;
const LIMIT_EXCEEDED_CODE: i64 = -32005;

const SEND_RAW: &str = "eth_sendRawTransaction";

/// The messages of geth, Erigon, Nethermind, Besu, OpenEthereum and anvil for a transaction that
/// they already have.
const ALREADY_KNOWN: [&str; 5] =
    ["already known", "alreadyknown", "known transaction", "already imported", "already exists"];

const SILENCE: &str = "The node did not answer this call";
const DOUBT: &str =
    "The node did not confirm this call, which may have been executed. Check before you repeat it";

/// The response body, and the outcome of each call.
#[derive(Debug)]
pub struct BatchReply {
    /// One object or an array, like the request; items in the order of the calls.
    pub body: Vec<u8>,
    /// One per call, in order.
    pub outcomes: Vec<CallOutcome>,
    /// Number of calls that were answered from the cache.
    pub cached: usize,
    /// The hashes that nodes returned for submitted transactions, by position.
    pub announced: Vec<(usize, String)>,
}

/// No node answered any call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnansweredBatch {
    /// Nothing was submitted.
    Untouched,
    /// Something may have been submitted.
    Unconfirmed,
}

pub(crate) struct BatchExchange<'a> {
    batch: &'a CallBatch,
    slots: Vec<AnswerSlot>,
    cached: usize,
    /// Results that never change, by position.
    lasting: Vec<(usize, String)>,
    announced: Vec<(usize, String)>,
}

struct AnswerSlot {
    answer: Option<ItemAnswer>,
    is_open: bool,
}

struct ItemAnswer {
    text: String,
    outcome: CallOutcome,
}

impl<'a> BatchExchange<'a> {
    pub(crate) fn new(batch: &'a CallBatch) -> BatchExchange<'a> {
        let slots =
            batch.calls().iter().map(|_| AnswerSlot { answer: None, is_open: true }).collect();
        BatchExchange { batch, slots, cached: 0, lasting: Vec::new(), announced: Vec::new() }
    }

    /// Takes a result from the cache.
    pub(crate) fn take_cached(&mut self, position: usize, result: &str) {
        let id = self.call(position).id();
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.store_answer(position, ItemAnswer { text, outcome: CallOutcome::Result }, false);
        self.cached += 1;
    }

    /// The results to cache, by position.
    pub(crate) fn take_immutable(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.lasting)
    }

    /// The positions of the calls to send to a node now.
    pub(crate) fn open(&self) -> Vec<usize> {
        let positions = 0..self.slots.len();
        positions.filter(|it| self.slots[*it].is_open).collect()
    }

    pub(crate) fn are_reads(&self, asked: &[usize]) -> bool {
        asked.iter().all(|it| self.call(*it).is_read())
    }

    /// The body to send: a single call goes as an object, which every node supports.
    pub(crate) fn build_request(&self, asked: &[usize]) -> String {
        if let [only] = asked {
            return self.request_item(*only);
        }
        let items: Vec<String> = asked.iter().map(|it| self.request_item(*it)).collect();
        format!("[{}]", items.join(","))
    }

    /// Takes a node's answer to the calls. False if it was not a JSON-RPC response.
    pub(crate) fn take_answer(&mut self, asked: &[usize], body: &[u8]) -> bool {
        let Some(answers) = NodeAnswer::read(body) else {
            self.mark_unconfirmed(asked);
            return false;
        };
        let heard = self.take_items(asked, &answers);
        for position in asked.iter().filter(|it| !heard[**it]) {
            let may_ask_again = self.call(*position).is_read();
            let text = match answers.shared_error() {
                Some(error) => self.copied_error(*position, error),
                None if may_ask_again => self.own_error(*position, SILENCE),
                None => self.own_error(*position, DOUBT),
            };
            self.store_answer(
                *position,
                ItemAnswer { text, outcome: CallOutcome::Error },
                may_ask_again,
            );
        }
        true
    }

    /// Takes a refusal of the whole request (HTTP 4xx). Other nodes would refuse it too, so no call
    /// is retried.
    pub(crate) fn take_refusal(&mut self, asked: &[usize], status: u16, body: &[u8]) {
        let heard = match NodeAnswer::read(body) {
            Some(answers) => self.take_items(asked, &answers),
            None => vec![false; self.slots.len()],
        };
        self.lasting.retain(|(position, _)| !asked.contains(position));
        for position in asked {
            let slot = &mut self.slots[*position];
            slot.is_open = false;
            match &mut slot.answer {
                Some(answer) if heard[*position] => answer.outcome = CallOutcome::Error,
                _ => self.put_refusal(*position, status, false),
            }
        }
    }

    /// Takes a refusal that concerns this node's URL or our key for it, and not the calls.
    pub(crate) fn take_access_refusal(&mut self, asked: &[usize], status: u16) {
        for position in asked {
            self.put_refusal(*position, status, true);
        }
    }

    /// The answer exceeded `bytes_max`, and would on other nodes too.
    pub(crate) fn take_oversized_answer(&mut self, asked: &[usize], bytes_max: usize) {
        let message =
            format!("The response is larger than {bytes_max} bytes: request less at a time");
        for position in asked {
            let text = self.own_error(*position, &message);
            self.store_answer(*position, ItemAnswer { text, outcome: CallOutcome::Error }, false);
        }
    }

    /// The node failed after it may have executed the calls: submissions are reported as
    /// unconfirmed.
    pub(crate) fn mark_unconfirmed(&mut self, asked: &[usize]) {
        for position in asked.iter().filter(|it| !self.batch.calls()[**it].is_read()) {
            let text = self.own_error(*position, DOUBT);
            self.store_answer(
                *position,
                ItemAnswer { text, outcome: CallOutcome::Unavailable },
                false,
            );
        }
    }

    pub(crate) fn finish(self) -> Result<BatchReply, UnansweredBatch> {
        let mut texts = Vec::with_capacity(self.slots.len());
        let mut outcomes = Vec::with_capacity(self.slots.len());
        let is_in_doubt = self.slots.iter().any(|it| it.answer.is_some());
        for (slot, call) in self.slots.into_iter().zip(self.batch.calls()) {
            let answer = slot.answer.unwrap_or_else(|| ItemAnswer {
                text: error_item(call.id(), "No node could answer this call; try again shortly"),
                outcome: CallOutcome::Unavailable,
            });
            texts.push(answer.text);
            outcomes.push(answer.outcome);
        }
        let is_answered = outcomes.iter().any(|it| *it != CallOutcome::Unavailable);
        if !is_answered {
            return Err(if is_in_doubt {
                UnansweredBatch::Unconfirmed
            } else {
                UnansweredBatch::Untouched
            });
        }
        let body = match self.batch.form() {
            BatchForm::Single => texts.into_iter().collect(),
            BatchForm::Array => format!("[{}]", texts.join(",")),
        };
        let (cached, announced) = (self.cached, self.announced);
        Ok(BatchReply { body: body.into_bytes(), outcomes, cached, announced })
    }

    fn call(&self, position: usize) -> &'a ProxyCall {
        &self.batch.calls()[position]
    }

    fn request_item(&self, position: usize) -> String {
        let (id, call) = ((position + 1).to_string(), self.call(position));
        let (method, params) = (call.method.name, call.params());
        let (version, method_is) = (r#"{"jsonrpc":"2.0","id":"#, r#","method":""#);
        // Every call is encoded here, and a formatter takes five times as long to join strings.
        [version, &id, method_is, method, r#"","params":"#, params, "}"].concat()
    }

    /// Takes the items that answer a call of `asked`, the first for each. Returns a flag per call:
    /// true if it was answered.
    fn take_items(&mut self, asked: &[usize], answers: &NodeAnswer<'_>) -> Vec<bool> {
        let mut heard = vec![false; self.slots.len()];
        for item in &answers.items {
            let Some(position) = position_of(item, asked) else { continue };
            if !heard[position] {
                heard[position] = true;
                self.take_item(position, item);
            }
        }
        heard
    }

    fn take_item(&mut self, position: usize, item: &AnswerItem<'_>) {
        let call = self.call(position);
        let text = item.with_id(call.id());
        if !item.is_error() {
            self.record_result(position, item.result());
            return self.store_answer(
                position,
                ItemAnswer { text, outcome: CallOutcome::Result },
                false,
            );
        }
        let complaint = item.error_details();
        if let Some(text) = known_transaction(call, &complaint.message) {
            return self.store_answer(
                position,
                ItemAnswer { text, outcome: CallOutcome::Result },
                false,
            );
        }
        // These codes concern the node and not the call, which was definitely not executed there.
        let may_ask_again = [METHOD_NOT_FOUND_CODE, LIMIT_EXCEEDED_CODE].contains(&complaint.code);
        self.store_answer(
            position,
            ItemAnswer { text, outcome: CallOutcome::Error },
            may_ask_again,
        );
    }

    /// Records what is needed after this exchange: results that never change, and transaction
    /// hashes.
    fn record_result(&mut self, position: usize, result: &str) {
        let call = self.call(position);
        let is_lasting = immutable::is_immutable(call, self.batch.network());
        if is_lasting && immutable::has_content(result) {
            self.lasting.push((position, result.to_owned()));
        }
        if call.method.effect == CallEffect::RawTransaction {
            let hash = transaction::parse_announced_hash(result);
            self.announced.extend(hash.map(|it| (position, it)));
        }
    }

    /// Stores an answer. An answer that may be improved by another node never replaces an earlier
    /// one.
    fn store_answer(&mut self, position: usize, answer: ItemAnswer, may_ask_again: bool) {
        let slot = &mut self.slots[position];
        slot.is_open = may_ask_again;
        if !may_ask_again || slot.answer.is_none() {
            slot.answer = Some(answer);
        }
    }

    fn put_refusal(&mut self, position: usize, status: u16, may_ask_again: bool) {
        let text = self.own_error(position, &format!("The node refused the call: HTTP {status}"));
        self.store_answer(
            position,
            ItemAnswer { text, outcome: CallOutcome::Error },
            may_ask_again,
        );
    }

    fn own_error(&self, position: usize, message: &str) -> String {
        error_item(self.call(position).id(), message)
    }

    fn copied_error(&self, position: usize, error: &RawValue) -> String {
        let id = self.call(position).id();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.get())
    }
}

/// The call that an item answers. The answer to a single call may lack an id; any other must have
/// one.
fn position_of(item: &AnswerItem<'_>, asked: &[usize]) -> Option<usize> {
    if let ([only], true) = (asked, item.has_no_id()) {
        return Some(*only);
    }
    let position = item.asked_id()?.checked_sub(1)?;
    asked.contains(&position).then_some(position)
}

/// The result for a transaction that the node already has, which counts as success: the hash that
/// the first submission would have returned.
fn known_transaction(call: &ProxyCall, message: &str) -> Option<String> {
    if call.method.name != SEND_RAW {
        return None;
    }
    let message = message.to_ascii_lowercase();
    let is_known = ALREADY_KNOWN.iter().any(|it| message.contains(it));
    if !is_known {
        return None;
    }
    let hash = call.transaction_hash()?;
    Some(format!(r#"{{"jsonrpc":"2.0","id":{},"result":"{hash}"}}"#, call.id()))
}

fn error_item(id: &str, message: &str) -> String {
    let message = Value::from(message);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{INTERNAL_ERROR_CODE},"message":{message}}}}}"#
    )
}

#[cfg(test)]
mod tests;
