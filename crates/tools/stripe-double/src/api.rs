//! The API: authentication, faults, idempotency keys and routes.

mod checkout;
mod customers;
mod lists;
mod payments;

use serde_json::json;

use crate::API_VERSION;
use crate::double::{KeptAnswer, StripeDouble};
use crate::parameters::find_unknown;
use crate::request::{DoubleAnswer, DoubleRequest};

/// Characters of an idempotency key.
const KEY_CHARACTERS_MAX: usize = 255;

impl StripeDouble {
    /// Answers a request to the API.
    pub fn answer(&mut self, request: &DoubleRequest) -> DoubleAnswer {
        if let Some(refusal) = self.refuse_caller(request) {
            return refusal;
        }
        let is_post = request.method == "POST";
        let key = request.idempotency_key.as_deref().filter(|_| is_post);
        let Some(key) = key else { return self.answer_with_faults(request) };
        if key.is_empty() || KEY_CHARACTERS_MAX < key.chars().count() {
            return DoubleAnswer::invalid(
                "Keys for idempotent requests are at most 255 characters",
            );
        }
        let asked = format!("{} {} {:?}", request.method, request.path, request.form);
        if let Some(kept) = self.answers.get(key) {
            return if kept.request == asked {
                DoubleAnswer { is_replayed: true, ..kept.answer.clone() }
            } else {
                let message = "Keys for idempotent requests can only be used with the same \
                               parameters they were first used with.";
                DoubleAnswer::error(400, json!({"type": "idempotency_error", "message": message}))
            };
        }
        let is_lost = 0 < self.failing_before;
        let answer = self.answer_with_faults(request);
        // What failed its validation is not kept, and neither is what did not begin. Failures are.
        let is_kept =
            !is_lost && (answer.status < 400 || answer.status == 402 || 500 <= answer.status);
        if is_kept {
            let kept = KeptAnswer { request: asked, answer: answer.clone() };
            self.answers.insert(key.to_owned(), kept);
        }
        answer
    }

    fn refuse_caller(&self, request: &DoubleRequest) -> Option<DoubleAnswer> {
        let given = request.authorization.as_deref().unwrap_or_default();
        let expected = &self.settings.api_key;
        let is_bearer = given.strip_prefix("Bearer ").is_some_and(|key| key == expected);
        if !is_bearer {
            let message = "Invalid API Key provided";
            let error = json!({"type": "invalid_request_error", "message": message});
            return Some(DoubleAnswer::error(401, error));
        }
        match request.version.as_deref() {
            None | Some(API_VERSION) => None,
            Some(other) => {
                Some(DoubleAnswer::invalid(format!("Invalid Stripe API version: {other}")))
            }
        }
    }

    fn answer_with_faults(&mut self, request: &DoubleRequest) -> DoubleAnswer {
        let failure =
            || DoubleAnswer::error(500, json!({"type": "api_error", "message": "a fault"}));
        if 0 < self.failing_before {
            self.failing_before -= 1;
            return failure();
        }
        let answer = self.route(request);
        if 0 < self.failing_after {
            self.failing_after -= 1;
            return failure();
        }
        answer
    }

    fn route(&mut self, request: &DoubleRequest) -> DoubleAnswer {
        if request.method == "POST"
            && let Some(name) = find_unknown(&request.path, request.form.names())
        {
            let message = format!("Received unknown parameter: {name}");
            return DoubleAnswer::invalid_code("parameter_unknown", &message);
        }
        let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["v1", "checkout", "sessions"]) => self.create_session(&request.form),
            ("GET", ["v1", "checkout", "sessions", id]) => {
                self.retrieve("checkout.session", &self.sessions, id)
            }
            ("POST", ["v1", "payment_intents"]) => self.create_intent(&request.form),
            ("POST", ["v1", "payment_intents", id, "cancel"]) => self.cancel_intent(id),
            ("GET", ["v1", "payment_intents", id]) => {
                self.retrieve("payment_intent", &self.intents, id)
            }
            ("POST", ["v1", "refunds"]) => self.create_refund(&request.form),
            ("GET", ["v1", "refunds", id]) => self.retrieve("refund", &self.refunds, id),
            ("GET", ["v1", "charges", id]) => self.retrieve("charge", &self.charges, id),
            ("GET", ["v1", "disputes", id]) => self.retrieve("dispute", &self.disputes, id),
            ("GET", ["v1", "events", id]) => self.retrieve("event", &self.events, id),
            ("POST", ["v1", "billing_portal", "sessions"]) => self.create_portal(&request.form),
            ("DELETE", ["v1", "customers", id]) => self.delete_customer(id),
            ("GET", ["v1", list @ ..]) => self.list(&list.join("/"), &request.query),
            (method, _) => unknown_route(method, &request.path),
        }
    }
}

pub(crate) fn unknown_route(method: &str, path: &str) -> DoubleAnswer {
    let message = format!("Unrecognized request URL ({method}: {path}).");
    DoubleAnswer::error(404, json!({"type": "invalid_request_error", "message": message}))
}
