//! Control routes: what payers, banks and the dashboard do, and faults.
//!
//! All are POSTs with a form under `/_double`, but for `GET /_double/payments`:
//! - `sessions/{id}/pay` (`kind`: `card` or `debit`), `sessions/{id}/expire`
//! - `intents/{id}/debit` (`arrived`), `intents/{id}/refund` (`amount`), `intents/{id}/dispute`
//!   (`amount`, `inquiry`), `intents/{id}/warn`
//! - `refunds/{id}/fail`, `disputes/{id}/win`, `disputes/{id}/lose`
//! - `faults` (`before`, `after`), see [`StripeDouble::fail_requests`]

use serde_json::{Value, json};

use crate::actions::{ActionFault, DisputeEnd, PaymentMethodKind};
use crate::double::{DoubleKind, StripeDouble};
use crate::http::HttpResponse;
use crate::request::FormFields;

impl StripeDouble {
    /// Carries out an action; `path` is what follows `/_double/`.
    pub(crate) fn control(&mut self, path: &str, form: &FormFields) -> HttpResponse {
        let parts: Vec<&str> = path.split('/').collect();
        let amount = form.integer("amount").unwrap_or_default();
        let done = match parts.as_slice() {
            ["payments"] => Ok(self.list_payments()),
            ["faults"] => {
                let count = |name| form.integer(name).and_then(|it| usize::try_from(it).ok());
                self.fail_requests(count("before").unwrap_or(0), count("after").unwrap_or(0));
                Ok(json!({}))
            }
            ["sessions", id, "pay"] => {
                let is_debit = form.get("kind") == Some("debit");
                let kind =
                    if is_debit { PaymentMethodKind::BankDebit } else { PaymentMethodKind::Card };
                self.pay_session(id, kind).map(|intent| json!({ "id": intent }))
            }
            ["sessions", id, "expire"] => self.expire_session(id).map(|()| json!({})),
            ["intents", id, "debit"] => {
                self.finish_debit(id, form.is_true("arrived")).map(|()| json!({}))
            }
            ["intents", id, "refund"] => {
                self.refund(id, amount, json!({})).map(|refund| json!({ "id": refund }))
            }
            ["intents", id, "dispute"] => {
                let dispute = self.dispute(id, amount, form.is_true("inquiry"));
                dispute.map(|dispute| json!({ "id": dispute }))
            }
            ["intents", id, "warn"] => self.warn(id).map(|warning| json!({ "id": warning })),
            ["refunds", id, "fail"] => self.fail_refund(id).map(|()| json!({})),
            ["disputes", id, "win"] => self.end_dispute(id, DisputeEnd::Won).map(|()| json!({})),
            ["disputes", id, "lose"] => self.end_dispute(id, DisputeEnd::Lost).map(|()| json!({})),
            _ => Err(ActionFault(format!("there is no action {path}"))),
        };
        match done {
            Ok(body) => HttpResponse::json(200, &body),
            Err(ActionFault(message)) => HttpResponse::json(409, &json!({ "fault": message })),
        }
    }

    fn list_payments(&self) -> Value {
        let payments = self.ids_of(DoubleKind::Intent).into_iter();
        payments.map(|id| json!({"id": id, "kept": self.kept_of(&id)})).collect()
    }
}
